// SPDX-License-Identifier: Apache-2.0
// The sections about runs. Each function returns {id, title, nodes} or null when there is nothing
// to show.
'use strict';

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const gpuHours = (run) => 1e9 / run.tgs / 3600;  // for 1e9 tokens, whatever the number of GPUs
const cost = (run) => run.price_per_gpu_hour ? gpuHours(run) * run.price_per_gpu_hour : undefined;

function bestRun() {
  const usable = Data.runs.filter((run) => run.tgs > 0);
  if (!usable.length) return null;
  // Of a reproduction no run is best: the first system is the paper's own.
  if (Data.bands.length) return usable.filter((run) => run.strategyName === usable[0].strategyName)
    .reduce((a, b) => (b.gpus > a.gpus ? b : a));
  const fitting = usable.filter((run) => run.fits !== false);
  const pool = fitting.length ? fitting : usable;
  const gpus = Math.max(...pool.map((run) => run.gpus || 0));
  return pool.filter((run) => (run.gpus || 0) === gpus).reduce((a, b) => (b.tgs > a.tgs ? b : a));
}

function answerSentence(best) {
  const plan = Data.plans[0] && Data.plans[0].content;
  if (plan && best.rank)
    return `Best way to train ${plan.model} on ${plan.gpus} GPUs of ${plan.cluster}: ${best.meshes}` +
      ` with micro-batches of ${best.micro_batch} and ${best.recompute} recompute` +
      ` (${plan.candidates} candidates, ${plan.too_large} too large, ${plan.simulated} simulated).`;
  const rivals = Data.runs.filter((run) => run.gpus === best.gpus && run.scenario === best.scenario);
  const what = `${best.strategyName}${best.meshes ? ` (${best.meshes})` : ''}`;
  const where = best.gpus ? ` on ${best.gpus} GPUs` : '';
  if (best.fits === false) return `Nothing here fits the GPU memory; the fastest would be ${what}${where}.`;
  if (rivals.length > 1) {
    const unfit = rivals.filter((run) => run.fits === false).length;
    return `Of ${rivals.length} strategies${where}, ${what} is the fastest` +
      (unfit ? ` that fits; ${unfit} ${unfit > 1 ? 'do' : 'does'} not fit the GPU memory.` : '.');
  }
  return `${best.scenario ? `${best.scenario}: ` : ''}${what}${where} trains ${Show.whole(best.tgs)} tokens per GPU and second.`;
}

function sectionAnswer() {
  const best = bestRun();
  if (!best) return null;
  const range = best.interval ? `90 % interval ${Show.whole(best.interval[0])} to ${Show.whole(best.interval[1])}` : '';
  const errors = Data.runs.map((run) => run.reference.tgs_error).filter((error) => error !== undefined);
  const figures = [
    ['Strategy', best.strategyName, best.meshes],
    ['Tokens per GPU and second', Show.whole(best.tgs), range],
    ['MFU', Show.percent(best.mfu), ''],
    ['Step', Show.seconds(best.step_time_s), best.micro_batches ? `${best.micro_batches} micro-batch${best.micro_batches > 1 ? 'es' : ''}` : ''],
    ['Peak memory', Show.bytes(best.peak_memory_bytes),
      best.memory_limit_bytes ? `of ${Show.bytes(best.memory_limit_bytes)}: ${best.fits ? 'fits' : 'does not fit'}` : ''],
    ['Exposed communication', Show.seconds(best.exposed.total),
      best.step_time_s ? `${Show.percent(best.exposed.total / best.step_time_s)} of the step` : ''],
    ['GPU hours for 10⁹ tokens', Show.number(gpuHours(best), 4),
      cost(best) !== undefined ? `cost ${Show.number(cost(best), 4)}` : ''],
  ];
  if (errors.length)
    figures.push(['Error against published TGS', Show.percent(mean(errors.map(Math.abs))), `mean of ${errors.length} points`]);
  if (best.range) figures.push(['Rests on', best.range, best.range_note || '']);
  const list = element('dl', { class: 'figures' }, ...figures.map(([name, value, more]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value, more ? element('small', {}, more) : null))));
  return { id: 'answer', title: 'Answer', nodes: [
    element('div', { class: 'answer' }, element('p', {}, answerSentence(best)), list)] };
}

const runColumns = () => [
  { title: 'Strategy', of: (run) => run.series, name: true },
  { title: 'Micro-batch', of: (run) => run.micro_batch },
  { title: 'Recompute', of: (run) => run.recompute, name: true },
  { title: 'Meshes', of: (run) => run.meshes || undefined, name: true },
  { title: 'GPUs', of: (run) => run.gpus },
  { title: 'M', of: (run) => run.micro_batches },
  { title: 'Step [s]', of: (run) => run.step_time_s, show: (v) => Show.number(v, 4) },
  { title: 'TGS', of: (run) => run.tgs, show: Show.whole },
  { title: '90 % interval', of: (run) => run.interval && run.interval[0],
    show: undefined, text: true },
  { title: 'MFU', of: (run) => run.mfu, show: Show.percent },
  { title: 'Peak [GiB]', of: (run) => run.peak_memory_bytes && run.peak_memory_bytes / 2 ** 30, show: (v) => Show.number(v, 4) },
  { title: 'Fits', of: (run) => (run.fits === undefined ? undefined : run.fits ? 'yes' : 'no'),
    mark: (run) => (run.fits === false ? 'bad' : 'good'), name: true },
  { title: 'Exposed [s]', of: (run) => run.exposed.total, show: (v) => Show.number(v, 3) },
  { title: 'GPU h / 10⁹ tokens', of: (run) => (run.tgs ? gpuHours(run) : undefined), show: (v) => Show.number(v, 4) },
  { title: 'Cost / 10⁹ tokens', of: cost, show: (v) => Show.number(v, 4) },
  { title: 'Published TGS', of: (run) => run.reference.tgs, show: Show.whole },
  { title: 'Error', of: (run) => run.reference.tgs_error, show: Show.signedPercent },
  { title: 'Rests on', of: (run) => run.range, name: true },
  { title: 'Source', of: (run) => run.source, name: true },
  { title: 'Refused', of: (run) => run.refused, name: true },
  { title: 'Beats the next because', of: (run) => run.reason || undefined, name: true },
];

function sectionRuns() {
  if (!Data.runs.length) return null;
  const columns = runColumns()
    .filter((column) => Data.runs.some((run) => column.of(run) !== undefined && column.of(run) !== null));
  const intervals = columns.find((column) => column.text);
  if (intervals) {
    const byLow = new Map(Data.runs.filter((run) => run.interval)
      .map((run) => [run.interval[0], run.interval.map(Show.whole).join(' – ')]));
    intervals.show = (low) => byLow.get(low) || '–';
  }
  return { id: 'runs', title: Data.runs.length > 1 ? 'All runs' : 'The run', nodes: [
    element('p', { class: 'lead' }, 'M is the number of micro-batches in a step, TGS the tokens per GPU and second. Press a header to sort.'),
    makeTable('Runs', columns, Data.runs, { filter: Data.runs.length > 3 })] };
}

function seriesOfRuns() {
  const series = new Map();
  for (const run of Data.runs.filter((one) => one.tgs > 0 && one.gpus > 0 && !one.overlap)) {
    if (!series.has(run.series)) series.set(run.series, []);
    series.get(run.series).push(run);
  }
  for (const runs of series.values()) runs.sort((a, b) => a.gpus - b.gpus);
  return series;
}

function scalingDatasets(series, of, intervalOf, publishedOf) {
  const datasets = [];
  [...series].forEach(([name, runs], i) => {
    const line = colour(i);
    datasets.push({ label: name, data: runs.map((run) => ({ x: run.gpus, y: of(run) })), borderColor: line,
      backgroundColor: line, pointRadius: 3, intervals: runs.map((run) => intervalOf(run)) });
    const published = runs.filter((run) => publishedOf(run));
    if (published.length)
      datasets.push({ label: `${name}, published`, data: published.map((run) => ({ x: run.gpus, y: publishedOf(run) })),
        borderColor: line, backgroundColor: 'transparent', showLine: false, pointStyle: 'rectRot', pointRadius: 7, borderWidth: 2 });
  });
  return datasets;
}

function sectionScaling() {
  const series = seriesOfRuns();
  const gpus = Data.runs.map((run) => run.gpus).filter((count) => count > 0);
  if (new Set(gpus).size < 2) return null;
  const top = (datasets) => Math.max(...datasets.flatMap((one) => (one.intervals || []).filter(Boolean).flat()), 0);
  const chart = (title, datasets) => ({
    type: 'line', data: { datasets }, plugins: [errorBars],
    options: { scales: { x: gpuAxis(gpus), y: axis(title, { beginAtZero: true, suggestedMax: 1.02 * top(datasets) }) } },
  });
  const scaled = (run, by) => run.interval && run.interval.map((tgs) => tgs / run.tgs * by);
  return { id: 'scaling', title: 'Scaling', nodes: [
    Charts.add('tgs', 'Tokens per GPU and second against GPUs; bars are the 90 % interval, diamonds published values',
      () => chart('TGS', scalingDatasets(series, (run) => run.tgs, (run) => run.interval, (run) => run.reference.tgs))),
    Data.runs.some((run) => run.mfu) ? Charts.add('mfu', 'Model FLOP utilisation against GPUs',
      () => chart('MFU', scalingDatasets(series, (run) => run.mfu, (run) => scaled(run, run.mfu), (run) => run.reference.mfu))) : null,
    tableBehind('Scaling', [
      { title: 'Strategy', of: (run) => run.series, name: true }, { title: 'GPUs', of: (run) => run.gpus },
      { title: 'TGS', of: (run) => run.tgs, show: Show.whole },
      { title: 'Published', of: (run) => run.reference.tgs, show: Show.whole },
      { title: 'Error', of: (run) => run.reference.tgs_error, show: Show.signedPercent },
      { title: 'MFU', of: (run) => run.mfu, show: Show.percent },
      { title: 'Published MFU', of: (run) => run.reference.mfu, show: Show.percent }], Data.runs)] };
}

// At most this many bars; the fastest runs are kept, in their order.
const kMostBars = 24;
function charted() {
  if (Data.runs.length <= kMostBars) return Data.runs;
  const kept = new Set([...Data.runs].sort((a, b) => (b.tgs || 0) - (a.tgs || 0)).slice(0, kMostBars));
  return Data.runs.filter((run) => kept.has(run));
}

function splitSection(id, title, label, partsOf, unit, scale, show) {
  const runs = charted().filter((run) => Object.keys(partsOf(run)).length);
  if (!runs.length) return null;
  const kinds = [...new Set(runs.flatMap((run) => Object.keys(partsOf(run))))].sort();
  const parts = () => kinds.map((kind) => ({
    label: kind.replace(/_/g, ' '), values: runs.map((run) => (partsOf(run)[kind] || 0) / scale) }));
  const figure = Charts.add(id, label, () => stackedBars(runs.map((run) => run.label), parts(), unit, (v) => show(v * scale)));
  figure.querySelector('.chart').style.height = `${Math.max(9, 6 + 2 * runs.length)}rem`;
  return { id, title, nodes: [figure, tableBehind(title, [
    { title: 'Run', of: (run) => run.label, name: true },
    ...kinds.map((kind) => ({ title: kind.replace(/_/g, ' '), of: (run) => partsOf(run)[kind], show }))], runs)] };
}

const sectionCommunication = () => splitSection('communication', 'Exposed communication',
  'Seconds of a step in which computation waits, by what it waits for', (run) => run.byCollective, 's', 1, Show.seconds);
const sectionMemory = () => splitSection('memory', 'Memory at its peak',
  'Memory of a GPU at the peak of the step, by what holds it', (run) => run.memory_at_peak_bytes || {}, 'GiB', 2 ** 30, Show.bytes);
