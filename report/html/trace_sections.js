// SPDX-License-Identifier: Apache-2.0
// The sections about one step (from traces), about validation and calibration, and the manifest.
'use strict';

const timelines = [];
const missingTrace = (missing) => (missing ? [element('p', { class: 'lead' }, missing)] : []);

function sectionTimeline() {
  const { traces, missing } = shownTraces();
  const nodes = traces.flatMap(({ trace, name, run }) => {
    if (!trace.lanes.length) return [];
    const timeline = new Timeline(trace, `Timeline of one step of ${name}`);
    timelines.push(timeline);
    const longest = trace.lanes.flatMap((lane) => lane.events.map((event) => ({ lane, event })))
      .sort((a, b) => b.event.dur - a.event.dur).slice(0, 50);
    const note = trace.other.repeats_folded
      ? ' The step is periodic: repetitions that look like the one before are not drawn one by one.' : '';
    const links = trace.hidden ? ` The ${trace.links - trace.hidden} busiest of ${trace.links} links are drawn.` : '';
    return [
      traces.length > 1 ? element('h3', {}, name) : null,
      element('p', { class: 'lead' }, trace.other.step_time_s
        ? `One step of ${name}${fitting(run)}: ${Show.seconds(trace.other.step_time_s)}.${note}${links}` : ''),
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
  return nodes.length ? { id: 'timeline', title: 'Timeline of one step', nodes: [...missingTrace(missing), ...nodes] } : null;
}

function memoryChart(data, limit, end) {
  const line = { label: 'memory', data, stepped: true, pointRadius: 0, borderColor: colour(0), backgroundColor: `${colour(0)}33`,
    fill: true, borderWidth: 1.5 };
  const most = { label: `limit of the GPU: ${Show.number(limit, 4)} GiB`, data: [{ x: 0, y: limit }, { x: end, y: limit }],
    pointRadius: 0, borderColor: css('--bad'), borderDash: [6, 4], borderWidth: 1.5 };
  return {
    type: 'line', data: { datasets: limit ? [line, most] : [line] },
    options: { parsing: false, normalized: true,
      plugins: { legend: { display: Boolean(limit) }, decimation: { enabled: true, algorithm: 'min-max', samples: 1000 } },
      scales: { x: axis('time [ms]', { type: 'linear', max: end || undefined }), y: axis('GiB', { beginAtZero: true, suggestedMax: limit * 1.03 || undefined }) } },
  };
}

function sectionMemoryTimeline() {
  const { traces, missing } = shownTraces();
  const nodes = traces.flatMap(({ trace, name, run }, i) => {
    if (!trace.memory.length) return [];
    const data = trace.memory.map((point) => ({ x: point.time / 1e3, y: point.bytes / 2 ** 30 }));
    const limit = run && run.memory_limit_bytes ? run.memory_limit_bytes / 2 ** 30 : 0;
    const end = Math.max(1e3 * (trace.other.step_time_s || 0), data[data.length - 1].x);
    if (end > data[data.length - 1].x) data.push({ x: end, y: data[data.length - 1].y });
    const folding = trace.other.repeats_folded > 0 ? '; where repetitions are not drawn, the line is level' : '';
    return [Charts.add(`memory-time-${i}`, `Memory of a GPU over one step of ${name}${fitting(run)}${folding}`,
      () => memoryChart(data, limit, end), true),
    tableBehind('Memory over the step', [
      { title: 'Time [ms]', of: (point) => point.x, show: (v) => Show.number(v, 5) },
      { title: 'Memory [GiB]', of: (point) => point.y, show: (v) => Show.number(v, 4) }],
    data.filter((point, k) => k % Math.ceil(data.length / 200) === 0))];
  });
  return nodes.length ? { id: 'memory-time', title: 'Memory over the step', nodes: [...missingTrace(missing), ...nodes] } : null;
}

function sectionLinks() {
  const nodes = shownTraces().traces.flatMap(({ trace, name }, i) => {
    const links = (trace.other.links || []).filter((link) => link.busy > 0)
      .sort((a, b) => b.busy - a.busy);
    if (!links.length) return [];
    const top = links.slice(0, 20);
    const figure = Charts.add(`links-${i}`, `Mean utilisation of the busiest links over one step of ${name}`,
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

function validationChart(rows) {
  const milliseconds = (row) => ({ x: row.measured_s * 1e3, y: row.predicted_s * 1e3, name: row.name });
  const isStep = (row) => /^step of /.test(row.name);
  const times = rows.flatMap((row) => [row.measured_s * 1e3, row.predicted_s * 1e3]);
  const ends = [Math.min(...times), Math.max(...times)];
  const points = (label, kept, i) => ({ label, data: kept.map(milliseconds), backgroundColor: colour(i), borderColor: colour(i), pointRadius: 4 });
  const datasets = [points('single operations', rows.filter((row) => !isStep(row)), 0), points('steps', rows.filter(isStep), 1)]
    .filter((dataset) => dataset.data.length);
  return { type: 'scatter', data: { datasets: [...datasets,
    { label: 'equal', type: 'line', data: ends.map((v) => ({ x: v, y: v })), borderColor: css('--muted'), borderWidth: 1, pointRadius: 0 }] },
  options: { plugins: { legend: { labels: { usePointStyle: true } }, tooltip: { callbacks: { label: ({ raw }) =>
    `${raw.name || ''}: predicted ${Show.number(raw.y, 4)} ms, measured ${Show.number(raw.x, 4)} ms` } } },
  scales: { x: logAxis('measured [ms]', times), y: logAxis('predicted [ms]', times) } } };
}

function sectionValidation() {
  const rows = Data.validations.flat();
  if (!rows.length) return null;
  const error = (row) => row.predicted_s / row.measured_s - 1;
  const exposed = (row) => row.exposed && row.exposed.measured_s > 0 ? row.exposed.error : undefined;
  return { id: 'validation', title: 'Predicted and measured', nodes: [
    Charts.add('validation', 'Predicted against measured time; on the line they are equal', () => validationChart(rows)),
    makeTable('Predicted and measured', [
      { title: 'What', of: (row) => row.name, name: true },
      ...(rows.some((row) => row.count) ? [{ title: 'Count', of: (row) => row.count }] : []),
      { title: 'Predicted', of: (row) => row.predicted_s, show: Show.seconds },
      { title: 'Measured', of: (row) => row.measured_s, show: Show.seconds },
      { title: 'Error', of: error, show: Show.signedPercent },
      ...(rows.some((row) => exposed(row) !== undefined) ? [{ title: 'Error of exposed communication', of: exposed, show: Show.signedPercent }] : [])],
    rows, { filter: rows.length > 10 })] };
}

const kMostSeries = 10;  // as many as there are colours

// The measurements of a calibration by collective and ranks, those with most rows first.
function calibrationSeries(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.kind.replace(/_/g, ' ')}, ${row.ranks} GPUs`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups].map(([name, group]) => [name, group.sort((a, b) => a.bytes - b.bytes)])
    .sort((a, b) => b[1].length - a[1].length).slice(0, kMostSeries);
}

function calibrationCharts(file, f, rows, fitted) {
  const series = calibrationSeries(rows);
  const rate = (row, time) => row.bytes / time / 1e9;
  const shown = series.flatMap(([, group]) => group);
  const legend = { labels: { usePointStyle: true, filter: (item) => !item.text.endsWith(', measured') } };
  // A series and its points are shown and hidden together.
  legend.onClick = (event, item, own) => {
    const datasets = own.chart.data.datasets, visible = own.chart.isDatasetVisible(item.datasetIndex);
    datasets.forEach((one, d) => { if (one.group === datasets[item.datasetIndex].group) own.chart.setDatasetVisibility(d, !visible); });
    own.chart.update();
  };
  const points = (group, of) => group.map((row) => ({ x: row.bytes, y: of(row) }));
  const curves = () => series.flatMap(([name, group], i) => [
    { label: name, group: name, data: points(group, (row) => rate(row, row.predicted_s || row.measured_s)), borderColor: colour(i),
      backgroundColor: colour(i), pointRadius: 0, borderWidth: 1.5,
      intervals: group.map((row) => (row.factor > 1 ? [rate(row, row.predicted_s * row.factor), rate(row, row.predicted_s / row.factor)] : null)) },
    { label: `${name}, measured`, group: name, data: points(group, (row) => rate(row, row.measured_s)), borderColor: colour(i),
      backgroundColor: colour(i), showLine: false, pointRadius: 2.5 }]);
  const errors = () => series.map(([name, group], i) => ({ label: name, group: name, borderColor: colour(i), backgroundColor: colour(i),
    showLine: false, pointRadius: 2.5, data: points(group, (row) => 100 * (row.measured_s / row.predicted_s - 1)) }));
  const sizes = shown.map((row) => row.bytes);
  const more = new Set(rows.map((row) => `${row.kind} ${row.ranks}`)).size - series.length;
  return [Charts.add(`calibration-${f}`,
    `${fitted ? 'Measured (points) and fitted (lines, bars are the 90 % interval)' : 'Measured'} algorithm bandwidth: ${file.path}` +
      (more > 0 ? `; the ${kMostSeries} largest series of ${series.length + more}` : ''), () => ({
      type: 'line', data: { datasets: curves() }, plugins: [errorBars],
      options: { plugins: { legend }, scales: { x: sizeAxis('size of the whole buffer', sizes),
        y: logAxis('GB/s', shown.map((row) => rate(row, row.measured_s))) } } })),
  fitted ? Charts.add(`residuals-${f}`, 'What the fit leaves: measured time above (+) or below (−) the fitted one', () => ({
    type: 'line', data: { datasets: errors() },
    options: { plugins: { legend: { display: false } }, scales: { x: sizeAxis('size of the whole buffer', sizes), y: axis('%') } } }), true) : null];
}

function sectionCalibration() {
  const nodes = Data.calibrations.flatMap((file, f) => {
    const rows = file.rows.filter((row) => row.measured_s > 0 && row.bytes > 0);
    const fitted = rows.some((row) => row.predicted_s > 0);
    return [
    ...calibrationCharts(file, f, rows, fitted),
    tableBehind(`Measurements of ${file.path}`, [
      { title: 'Collective', of: (row) => row.kind, name: true }, { title: 'GPUs', of: (row) => row.ranks },
      { title: 'Size', of: (row) => row.bytes, show: Show.bytes },
      { title: 'Measured', of: (row) => row.measured_s, show: Show.seconds },
      ...(fitted ? [{ title: 'Fitted', of: (row) => row.predicted_s, show: Show.seconds },
        { title: 'Measured / fitted', of: (row) => row.measured_s / row.predicted_s - 1, show: Show.signedPercent }] : []),
      ...(rows.some((row) => row.trust !== undefined) ? [{ title: 'Weight in the fit', of: (row) => row.trust, show: Show.number }] : []),
      ...(rows.some((row) => row.source) ? [{ title: 'Source', of: (row) => row.source, name: true }] : [])], rows, { filter: true })];
  });
  return nodes.length ? { id: 'calibration', title: 'Calibration', nodes } : null;
}

// Runs that differ in little have manifests that differ in little: one fold for each scenario.
function sectionManifest() {
  const manifests = new Map();
  for (const run of Data.runs.filter((one) => one.manifest)) {
    const name = run.scenario || run.label;
    if (!manifests.has(name)) manifests.set(name, new Map());
    const text = JSON.stringify(run.manifest, null, 2);
    if (!manifests.get(name).has(text)) manifests.get(name).set(text, run.label);
  }
  const folds = [...manifests].map(([name, texts]) => element('details', {},
    element('summary', {}, texts.size > 1 ? `${name}: ${texts.size} runs` : name),
    ...[...texts].flatMap(([text, label]) => [texts.size > 1 ? element('h3', {}, label) : null, element('pre', { tabindex: '0' }, text)])));
  const files = makeTable('Files in this report', [
    { title: 'File', of: (file) => file.path, name: true },
    { title: 'SHA-256', of: (file) => file.sha256, name: true, hash: true }], Data.files);
  return { id: 'manifest', title: 'Manifest', nodes: [
    element('p', { class: 'lead' }, 'What determined these results: program, inputs with their hashes, options.'), ...folds, files] };
}
