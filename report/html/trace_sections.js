// SPDX-License-Identifier: Apache-2.0
// The sections about one step (from traces), about validation and calibration, and the manifest.
'use strict';

const timelines = [];
const traceLabel = (file) => (Data.traces.length > 1 ? ` (${file.path})` : '');

function sectionTimeline() {
  const nodes = Data.traces.flatMap((file) => {
    const trace = readTrace(file.content);
    if (!trace.lanes.length) return [];
    const timeline = new Timeline(trace, `Timeline of one step${traceLabel(file)}`);
    timelines.push(timeline);
    const longest = trace.lanes.flatMap((lane) => lane.events.map((event) => ({ lane, event })))
      .sort((a, b) => b.event.dur - a.event.dur).slice(0, 50);
    const note = trace.other.repeats_folded
      ? 'The step is periodic: repetitions that look like the one before are not drawn one by one.' : '';
    return [
      Data.traces.length > 1 ? element('h3', {}, file.path) : null,
      element('p', { class: 'lead' }, trace.other.step_time_s
        ? `One step of ${Show.seconds(trace.other.step_time_s)}${trace.other.schedule ? ` of ${trace.other.schedule}` : ''}. ${note}` : ''),
      timeline.node,
      tableBehind('The 50 longest operations', [
        { title: 'Operation', of: (row) => row.event.name, name: true },
        { title: 'Where', of: (row) => `${row.lane.process}: ${row.lane.name}`, name: true },
        { title: 'Start [ms]', of: (row) => row.event.ts / 1e3, show: (v) => Show.number(v, 5) },
        { title: 'Duration [ms]', of: (row) => row.event.dur / 1e3, show: (v) => Show.number(v, 4) },
        { title: 'Waited [ms]', of: (row) => row.event.args && row.event.args.wait_us / 1e3, show: (v) => Show.number(v, 4) },
        { title: 'Bytes', of: (row) => row.event.args && row.event.args.bytes, show: Show.bytes },
        { title: 'Bus bandwidth [GB/s]', of: (row) => row.event.args && row.event.args.busbw_GBps, show: (v) => Show.number(v, 4) },
      ], longest)];
  });
  return nodes.length ? { id: 'timeline', title: 'Timeline of one step', nodes } : null;
}

function sectionMemoryTimeline() {
  const nodes = Data.traces.flatMap((file, i) => {
    const points = readTrace(file.content).counters.get('memory');
    if (!points || !points.length) return [];
    const total = (point) => Object.values(point.args).reduce((sum, bytes) => sum + bytes, 0);
    const data = points.map((point) => ({ x: point.time / 1e3, y: total(point) / 2 ** 30 }));
    return [Charts.add(`memory-time-${i}`, `Memory of a GPU over one step${traceLabel(file)}`, () => ({
      type: 'line',
      data: { datasets: [{ label: 'memory', data, stepped: true, pointRadius: 0, borderColor: colour(0),
        backgroundColor: `${colour(0)}33`, fill: true, borderWidth: 1.5 }] },
      options: { parsing: false, normalized: true,
        plugins: { legend: { display: false }, decimation: { enabled: true, algorithm: 'min-max', samples: 1000 } },
        scales: { x: axis('time [ms]', { type: 'linear' }), y: axis('GiB', { beginAtZero: true }) } },
    }), true),
    tableBehind('Memory over the step', [
      { title: 'Time [ms]', of: (point) => point.x, show: (v) => Show.number(v, 5) },
      { title: 'Memory [GiB]', of: (point) => point.y, show: (v) => Show.number(v, 4) }],
    data.filter((point, k) => k % Math.ceil(data.length / 200) === 0))];
  });
  return nodes.length ? { id: 'memory-time', title: 'Memory over the step', nodes } : null;
}

function sectionLinks() {
  const nodes = Data.traces.flatMap((file, i) => {
    const links = ((file.content.otherData || {}).links || []).filter((link) => link.busy > 0)
      .sort((a, b) => b.busy - a.busy);
    if (!links.length) return [];
    const top = links.slice(0, 20);
    const figure = Charts.add(`links-${i}`, `Mean utilisation of the busiest links over one step${traceLabel(file)}`,
      () => stackedBars(top.map((link) => link.name), [{ label: 'busy', values: top.map((link) => 100 * link.busy) }], '%',
        (value) => `${Show.number(value)} %`));
    figure.querySelector('.chart').style.height = `${Math.max(9, 6 + 1.6 * top.length)}rem`;
    return [figure, tableBehind('Links', [
      { title: 'Link', of: (link) => link.name, name: true },
      { title: 'Stands for', of: (link) => link.members },
      { title: 'Carried', of: (link) => link.carried_bytes, show: Show.bytes },
      { title: 'Utilisation', of: (link) => link.busy, show: Show.percent }], links)];
  });
  return nodes.length ? { id: 'links', title: 'Links', nodes } : null;
}

function sectionBands() {
  const bands = Data.bands.flatMap((file) => file.content.bands);
  if (!bands.length) return null;
  return { id: 'bands', title: 'Stated error bands', nodes: [makeTable('Stated error bands', [
    { title: 'Band', of: (band) => band.name, name: true },
    { title: 'Measure', of: (band) => band.measure, name: true },
    { title: 'Points', of: (band) => band.points },
    { title: 'Reached', of: (band) => band.reached, show: Show.number },
    { title: 'Limit', of: (band) => band.limit, show: Show.number },
    { title: 'Holds', of: (band) => (band.holds ? 'yes' : 'no'), name: true, mark: (band) => (band.holds ? 'good' : 'bad') }],
  bands)] };
}

function sectionValidation() {
  const rows = Data.validations.flat();
  if (!rows.length) return null;
  const error = (row) => row.predicted_s / row.measured_s - 1;
  return { id: 'validation', title: 'Predicted and measured', nodes: [
    Charts.add('validation', 'Predicted against measured time; on the line they are equal', () => {
      const times = rows.flatMap((row) => [row.measured_s * 1e3, row.predicted_s * 1e3]).filter((time) => time > 0);
      const ends = [Math.min(...times), Math.max(...times)];
      return { type: 'scatter', data: { datasets: [
        { label: 'operations', data: rows.map((row) => ({ x: row.measured_s * 1e3, y: row.predicted_s * 1e3 })), backgroundColor: colour(0) },
        { label: 'equal', type: 'line', data: ends.map((v) => ({ x: v, y: v })), borderColor: css('--muted'), borderWidth: 1, pointRadius: 0 }] },
      options: { scales: { x: axis('measured [ms]', { type: 'logarithmic' }), y: axis('predicted [ms]', { type: 'logarithmic' }) } } };
    }),
    makeTable('Predicted and measured', [
      { title: 'What', of: (row) => row.name, name: true },
      { title: 'Count', of: (row) => row.count },
      { title: 'Predicted', of: (row) => row.predicted_s, show: Show.seconds },
      { title: 'Measured', of: (row) => row.measured_s, show: Show.seconds },
      { title: 'Error', of: error, show: Show.signedPercent }], rows)] };
}

function sectionCalibration() {
  const nodes = Data.calibrations.flatMap((file, f) => {
    const rows = file.rows.filter((row) => row.measured_s > 0 && row.bytes > 0);
    const fitted = rows.some((row) => row.predicted_s > 0);
    const groups = new Map();
    for (const row of rows) {
      const key = `${row.kind} on ${row.ranks} GPUs`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    const series = [...groups].map(([name, group]) => [name, group.sort((a, b) => a.bytes - b.bytes)]);
    const rate = (row, time) => row.bytes / time / 1e9;
    return [Charts.add(`calibration-${f}`, `${fitted ? 'Measured (points) and fitted (lines)' : 'Measured'} algorithm bandwidth: ${file.path}`, () => ({
      type: 'line',
      data: { datasets: series.slice(0, 16).flatMap(([name, group], i) => [
        { label: name, data: group.map((row) => ({ x: row.bytes, y: rate(row, row.predicted_s || row.measured_s) })), borderColor: colour(i), pointRadius: 0, borderWidth: 1.5 },
        { label: `${name}, measured`, data: group.map((row) => ({ x: row.bytes, y: rate(row, row.measured_s) })), borderColor: colour(i), backgroundColor: colour(i), showLine: false, pointRadius: 2.5 }]) },
      options: { plugins: { legend: { labels: { filter: (item) => !item.text.endsWith(', measured') } } },
        scales: { x: axis('size', { type: 'logarithmic', ticks: { callback: Show.bytes } }), y: axis('GB/s', { beginAtZero: true }) } },
    })), tableBehind(`Measurements of ${file.path}`, [
      { title: 'Collective', of: (row) => row.kind, name: true }, { title: 'GPUs', of: (row) => row.ranks },
      { title: 'Size', of: (row) => row.bytes, show: Show.bytes },
      { title: 'Measured', of: (row) => row.measured_s, show: Show.seconds },
      ...(fitted ? [{ title: 'Fitted', of: (row) => row.predicted_s, show: Show.seconds },
        { title: 'Error', of: (row) => row.predicted_s / row.measured_s - 1, show: Show.signedPercent }]
        : [{ title: 'Weight in the fit', of: (row) => row.trust, show: Show.number }])], rows)];
  });
  return nodes.length ? { id: 'calibration', title: 'Calibration', nodes } : null;
}

function sectionManifest() {
  const manifests = new Map();
  for (const run of Data.runs) if (run.manifest) manifests.set(JSON.stringify(run.manifest, null, 2), run);
  const folds = [...manifests].map(([text, run]) =>
    element('details', {}, element('summary', {}, run.scenario || run.label), element('pre', {}, text)));
  const files = makeTable('Files in this report', [
    { title: 'File', of: (file) => file.path, name: true },
    { title: 'SHA-256', of: (file) => file.sha256, name: true }], Data.files);
  return { id: 'manifest', title: 'Manifest', nodes: [
    element('p', { class: 'lead' }, 'What determined these results: program, inputs with their hashes, options.'), ...folds, files] };
}
