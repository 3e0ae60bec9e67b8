// SPDX-License-Identifier: Apache-2.0
// The sections about runs. Each function returns {id, title, nodes} or null when there is nothing
// to show.
'use strict';

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const gpuHours = (run) => 1e9 / run.tgs / 3600;  // for 1e9 tokens, whatever the number of GPUs
const cost = (run) => run.price_per_gpu_hour ? gpuHours(run) * run.price_per_gpu_hour : undefined;

const byPaper = () => Data.plans.some((file) => file.content.objective === 'paper');

function bestRun() {
  const usable = Data.runs.filter((run) => run.tgs > 0);
  if (!usable.length) return null;
  const planned = usable.find((run) => run.rank === 1);  // a plan has its answer
  if (planned) return planned;
  // Of a reproduction no run is best: the first system is the paper's own.
  if (Data.bands.length) return usable.filter((run) => run.strategyName === usable[0].strategyName)
    .reduce((a, b) => (b.gpus > a.gpus ? b : a));
  const fitting = usable.filter((run) => run.fits !== false);
  const pool = fitting.length ? fitting : usable;
  const gpus = Math.max(...pool.map((run) => run.gpus || 0));
  return pool.filter((run) => (run.gpus || 0) === gpus).reduce((a, b) => (b.tgs > a.tgs ? b : a));
}

const inWords = (words) => (words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}` : words[0]);

function planSentence(plan, best) {
  const without = best.recompute === 'none' ? 'without recompute' : `with ${best.recompute} recompute`;
  const broadcast = best.overlap_broadcast ? ', the broadcast of parameters overlapped with the next step' : '';
  return `Best way to train ${plan.model} on ${plan.gpus} GPUs of ${plan.cluster}: ${best.meshes}, micro-batches of` +
    ` ${best.micro_batch}, ${without}${broadcast}. Of ${plan.candidates} candidates ${plan.too_large} do not fit the GPU memory` +
    ` and ${plan.pruned} were ruled out by a lower bound of their step time.`;
}

function reproductionSentence() {
  const bands = Data.bands.flatMap((file) => file.content.bands);
  const missed = bands.filter((band) => !band.holds).map((band) => band.name);
  const holding = bands.length - missed.length;
  return `${Data.runs.length} predictions beside what the paper printed: ` + (missed.length
    ? `${holding || 'none'} of ${bands.length} stated error bands ${holding > 1 ? 'hold' : 'holds'}; missed: ${inWords(missed)}.`
    : `all ${bands.length} stated error bands hold.`);
}

function answerSentence(best) {
  const plan = Data.plans[0] && Data.plans[0].content;
  if (plan && best.rank) return planSentence(plan, best);
  if (Data.bands.length) return reproductionSentence();
  const rivals = Data.runs.filter((run) => run.gpus === best.gpus && run.scenario === best.scenario);
  const what = `${best.strategyName}${best.meshes ? ` (${best.meshes})` : ''}`;
  const where = best.gpus ? ` on ${best.gpus} GPUs` : '';
  if (best.fits === false) return `Nothing here fits the GPU memory; the fastest would be ${what}${where}.`;
  if (rivals.length > 1) {
    const unfit = rivals.filter((run) => run.fits === false).length;
    return `Of ${rivals.length} ${new Set(rivals.map((run) => run.strategyName)).size > 1 ? 'strategies' : 'variants'}${where},` +
      ` ${what} is the fastest` + (unfit ? ` that fits; ${unfit} ${unfit > 1 ? 'do' : 'does'} not fit the GPU memory.` : '.');
  }
  return `${best.scenario ? `${best.scenario}: ` : ''}${what}${where} trains ${Show.whole(best.tgs)} tokens per GPU and second.`;
}

// How sure the times of kernels and collectives are: the least certain one decides.
const kRange = { 'measured range': ['measured', 'every kernel and collective lies inside the measured sizes and scales'],
  extrapolated: ['extrapolated', 'at least one kernel or collective lies beyond the measured sizes or scales'],
  default: ['partly unmeasured', 'at least one kernel or collective has no measurement: data sheets and stated constants'] };

function answerFigures(best) {
  const tokens = best.tokens || 1e9;
  const budget = best.tokens ? `${Show.number(best.tokens / 1e9)}·10⁹ tokens` : '10⁹ tokens';
  const figures = [
    [best.rank ? 'Sharding' : 'Strategy', best.rank ? best.meshes : best.strategyName, best.rank ? '' : best.meshes],
    ['Tokens per GPU and second', Show.whole(best.tgs),
      best.interval ? `90 % interval ${Show.whole(best.interval[0])} to ${Show.whole(best.interval[1])}` : ''],
    ['MFU', Show.percent(best.mfu), ''],
    ['Step', Show.seconds(best.step_time_s), best.micro_batches ? `${best.micro_batches} micro-batch${best.micro_batches > 1 ? 'es' : ''}` : ''],
    best.peak_memory_bytes && ['Peak memory', Show.bytes(best.peak_memory_bytes),
      best.memory_limit_bytes ? `of ${Show.bytes(best.memory_limit_bytes)}: ${best.fits ? 'fits' : 'does not fit'}` : ''],
    best.exposed.total !== undefined && ['Exposed communication', Show.seconds(best.exposed.total),
      best.step_time_s ? `${Show.percent(best.exposed.total / best.step_time_s)} of the step` : ''],
    [`GPU hours for ${budget}`, Show.number(gpuHours(best) * tokens / 1e9, 4), ''],
    cost(best) !== undefined && [`Cost of ${budget}`, Show.number(cost(best) * tokens / 1e9, 4),
      `at ${Show.number(best.price_per_gpu_hour)} a GPU hour`],
    byPaper() && best.rank && ['T_comm, which decides', Show.seconds(best.paper_t_comm_s), 'the paper\'s objective: nothing overlapped'],
    best.range && ['Predictions', ...(kRange[best.range] || [best.range, ''])],
  ];
  return figures.filter(Boolean);
}

// Pages of a validation or a calibration alone.
function answerWithoutRuns() {
  const sorted = (values) => values.map(Math.abs).sort((a, b) => a - b);
  const rows = Data.validations.flat();
  const fitted = Data.calibrations.flatMap((file) => file.rows).filter((row) => row.predicted_s > 0 && row.measured_s > 0);
  const error = (row) => row.predicted_s / row.measured_s - 1;
  const steps = sorted(rows.filter((row) => /^step of /.test(row.name)).map(error));
  const single = sorted(rows.filter((row) => !/^step of /.test(row.name)).map(error));
  const fits = sorted(fitted.map(error));
  const median = (values) => Show.percent(values[Math.floor(values.length / 2)]);
  const said = [
    steps.length && `The time of ${steps.length} step${steps.length > 1 ? 's' : ''} was predicted within ${Show.percent(steps[steps.length - 1])} of the measured one.`,
    single.length && `Half of ${single.length} single operations were predicted within ${median(single)}.`,
    fits.length && `A fit to ${fits.length} measurements; half of them lie within ${median(fits)} of it, nine of ten within ${Show.percent(fits[Math.floor(0.9 * fits.length)])}.`,
  ].filter(Boolean);
  return said.length ? { id: 'answer', title: 'Answer', nodes: [
    element('div', { class: 'answer' }, ...said.map((text) => element('p', {}, text)))] } : null;
}

function sectionAnswer() {
  const best = bestRun();
  const miss = Data.plans.map((file) => file.content.nothing_fits).find(Boolean);
  if (!best) return miss ? { id: 'answer', title: 'Answer', nodes: [
    element('div', { class: 'answer' }, element('p', {}, `Nothing fits. ${miss}`))] } : answerWithoutRuns();
  const errors = Data.runs.map((run) => run.reference.tgs_error).filter((error) => error !== undefined);
  const figures = Data.bands.length ? [['Shown', best.label, 'the largest run of the first system']] : [];
  figures.push(...answerFigures(best).slice(Data.bands.length ? 1 : 0));
  if (errors.length)
    figures.push(['Error against published TGS', Show.percent(mean(errors.map(Math.abs))), `mean of ${errors.length} points`]);
  const facts = element('dl', { class: 'figures' }, ...figures.map(([name, value, more]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value, more ? element('small', {}, more) : null))));
  return { id: 'answer', title: 'Answer', nodes: [
    element('div', { class: 'answer' }, element('p', {}, answerSentence(best)), facts)] };
}

// What decides comes first, for narrow screens; what is long has a line of its own below its row.
const runColumns = () => [
  { title: 'Strategy', of: (run) => run.series, name: true },
  { title: 'TGS', of: (run) => run.tgs, show: Show.whole },
  { title: 'Step [s]', of: (run) => run.step_time_s, show: (v) => Show.number(v, 4) },
  { title: 'MFU', of: (run) => run.mfu, show: Show.percent },
  { title: 'Peak [GiB]', of: (run) => run.peak_memory_bytes && run.peak_memory_bytes / 2 ** 30, show: (v) => Show.number(v, 4) },
  { title: 'Fits', of: (run) => (run.fits === undefined ? undefined : run.fits ? 'yes' : 'no'),
    mark: (run) => (run.fits === false ? 'bad' : 'good'), name: true },
  { title: 'T_comm [s]', of: (run) => (byPaper() ? run.paper_t_comm_s : undefined), show: (v) => Show.number(v, 4) },
  { title: 'GPUs', of: (run) => run.gpus, setting: true },
  { title: 'Exposed [s]', of: (run) => run.exposed.total, show: (v) => Show.number(v, 3) },
  { title: '90 % interval', of: (run) => run.interval && run.interval[0],
    show: undefined, text: true },
  { title: 'Meshes', of: (run) => run.meshes || undefined, name: true },
  { title: 'Micro-batch', of: (run) => run.micro_batch, setting: true },
  { title: 'M', of: (run) => run.micro_batches, setting: true },
  { title: 'Recompute', of: (run) => run.recompute, name: true },
  { title: 'Broadcast overlap', of: (run) => (run.overlap_broadcast === undefined ? undefined : run.overlap_broadcast ? 'on' : 'off'), name: true },
  { title: 'GPU h / 10⁹ tokens', of: (run) => (run.tgs ? gpuHours(run) : undefined), show: (v) => Show.number(v, 4) },
  { title: 'Cost / 10⁹ tokens', of: cost, show: (v) => Show.number(v, 4) },
  { title: 'Cost of all tokens', of: (run) => run.cost, show: (v) => Show.number(v, 4) },
  { title: 'Lower bound [s]', of: (run) => run.lower_bound_s, show: (v) => Show.number(v, 4) },
  { title: 'Published TGS', of: (run) => run.reference.tgs, show: Show.whole },
  { title: 'Error', of: (run) => run.reference.tgs_error, show: Show.signedPercent },
  { title: 'Predictions', of: (run) => run.range && (kRange[run.range] || [run.range])[0], name: true },
  { title: 'Source', of: (run) => run.source, name: true },
  { title: 'To fit', of: (run) => run.fit_advice, name: true, long: true },
  { title: 'Refused', of: (run) => run.refused, name: true, long: true },
  { title: 'Beside the next', of: (run) => run.reason || undefined, name: true, long: true },
];

// Words and settings that are the same in every row are said once, above the table.
function withoutConstants(columns) {
  if (Data.runs.length < 2) return [columns, ''];
  const constant = columns.filter((column) => (column.name || column.setting) && column.title !== 'Strategy' &&
    new Set(Data.runs.map(column.of)).size === 1);
  const said = constant.map((column) => `${column.title}: ${column.of(Data.runs[0])}`).join('; ');
  return [columns.filter((column) => !constant.includes(column)), said ? ` The same in all rows: ${said}.` : ''];
}

function sectionRuns() {
  if (!Data.runs.length) return null;
  const [columns, same] = withoutConstants(runColumns()
    .filter((column) => Data.runs.some((run) => column.of(run) !== undefined && column.of(run) !== null)));
  const intervals = columns.find((column) => column.text);
  if (intervals) {
    const byLow = new Map(Data.runs.filter((run) => run.interval)
      .map((run) => [run.interval[0], run.interval.map(Show.whole).join(' – ')]));
    intervals.show = (low) => byLow.get(low) || '–';
  }
  const title = Data.runs.every((run) => run.rank) ? 'The best choices' : Data.runs.length > 1 ? 'All runs' : 'The run';
  return { id: 'runs', title, nodes: [
    element('p', { class: 'lead' }, `M is the number of micro-batches in a step, TGS the tokens per GPU and second. Press a header to sort.${same}`),
    makeTable('Runs', columns, Data.runs, { filter: Data.runs.length > 3 })] };
}

// One pair of charts for each model where there are several; one line for each strategy.
const kMostLines = 6;
function scalingGroups() {
  const runs = Data.runs.filter((one) => one.tgs > 0 && one.gpus > 0 && !one.overlap);
  const several = new Set(runs.map((run) => run.series)).size > kMostLines;
  const groups = new Map();
  for (const run of runs) {
    const name = several && run.scenario ? run.scenario : '';
    if (!groups.has(name)) groups.set(name, new Map());
    const series = name ? run.series.replace(`${name} · `, '') : run.series;
    if (!groups.get(name).has(series)) groups.get(name).set(series, []);
    groups.get(name).get(series).push(run);
  }
  for (const group of groups.values()) for (const one of group.values()) one.sort((a, b) => a.gpus - b.gpus);
  return [...groups].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
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

function scalingCharts(name, series, i) {
  const runs = [...series.values()].flat();
  const gpus = runs.map((run) => run.gpus);
  const top = (datasets) => Math.max(...datasets.flatMap((one) => (one.intervals || []).filter(Boolean).flat()), 0);
  const chart = (title, datasets) => ({
    type: 'line', data: { datasets }, plugins: [errorBars],
    options: {
      plugins: { legend: { labels: { usePointStyle: true, filter: (item) => series.size < 3 || !item.text.endsWith(', published') } } },
      scales: { x: gpuAxis(gpus), y: axis(title, { beginAtZero: true, suggestedMax: 1.02 * top(datasets) }) } },
  });
  const scaled = (run, by) => run.interval && run.interval.map((tgs) => tgs / run.tgs * by);
  const marks = [runs.some((run) => run.interval) && 'bars are the 90 % interval',
    runs.some((run) => run.reference.tgs || run.reference.mfu) && 'diamonds are published values'].filter(Boolean).join(', ');
  const label = (what) => `${what} against GPUs${name ? ` of ${name}` : ''}${marks ? `; ${marks}` : ''}`;
  const id = i ? `-${i}` : '';
  return [
    Charts.add(`tgs${id}`, label('Tokens per GPU and second'),
      () => chart('TGS', scalingDatasets(series, (run) => run.tgs, (run) => run.interval, (run) => run.reference.tgs))),
    runs.some((run) => run.mfu) ? Charts.add(`mfu${id}`, label('Model FLOP utilisation'),
      () => chart('MFU', scalingDatasets(series, (run) => run.mfu, (run) => scaled(run, run.mfu), (run) => run.reference.mfu))) : null];
}

function sectionScaling() {
  if (new Set(Data.runs.map((run) => run.gpus).filter((count) => count > 0)).size < 2) return null;
  return { id: 'scaling', title: 'Scaling', nodes: [
    ...scalingGroups().flatMap(([name, series], i) => scalingCharts(name, series, i)),
    tableBehind('Scaling', [
      { title: 'Strategy', of: (run) => run.series, name: true }, { title: 'GPUs', of: (run) => run.gpus },
      { title: 'TGS', of: (run) => run.tgs, show: Show.whole },
      { title: '90 % interval', of: (run) => run.interval && run.interval.map(Show.whole).join(' – ') },
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
