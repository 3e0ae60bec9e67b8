// SPDX-License-Identifier: Apache-2.0
// Reads the embedded files into what the sections show. Tolerant: a missing field is a missing
// cell, an unknown field is ignored (docs/formats/results.md).
'use strict';

const Show = {
  number: (value, digits = 3) =>
    value === undefined || value === null || Number.isNaN(value) ? '–'
      : Number(value).toLocaleString('en', { maximumSignificantDigits: digits, useGrouping: false }),
  whole: (value) => (value === undefined || value === null ? '–' : String(Math.round(value))),
  percent: (value, digits = 1) =>
    value === undefined || value === null ? '–' : `${(100 * value).toFixed(digits)} %`,
  signedPercent: (value) =>
    value === undefined || value === null ? '–' : `${value >= 0 ? '+' : '−'}${Math.abs(100 * value).toFixed(1)} %`,
  bytes(value) {
    if (value === undefined || value === null) return '–';
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = value > 0 ? Math.min(4, Math.max(0, Math.floor(Math.log2(value) / 10))) : 0;
    return `${Show.number(value / 2 ** (10 * power), 4)} ${units[power]}`;
  },
  seconds(value) {
    if (value === undefined || value === null) return '–';
    const size = Math.abs(value);
    if (size >= 1 || size === 0) return `${Show.number(value, 4)} s`;
    if (size >= 1e-3) return `${Show.number(value * 1e3, 4)} ms`;
    return `${Show.number(value * 1e6, 4)} µs`;
  },
};

const Data = (() => {
  const files = JSON.parse(document.getElementById('report-data').textContent).files;
  const withContent = (test) => files.filter((file) => file.content && test(file.content));

  function meshes(strategy) {
    if (!strategy || typeof strategy !== 'object') return '';
    const parts = [['P', strategy.parameters], ['G', strategy.gradients], ['OS', strategy.optimizer]];
    return parts.filter((part) => part[1]).map((part) => part.join(' ')).join(', ');
  }

  function strategyName(strategy) {
    if (!strategy) return '';
    return typeof strategy === 'string' ? strategy : strategy.name || strategy.preset || 'custom';
  }

  function interval(run) {
    const times = run.step_time_interval_s;
    if (!times || !run.tgs || !run.step_time_s || !(times[0] > 0)) return null;
    const work = run.tgs * run.step_time_s;
    return [work / times[1], work / times[0]];
  }

  function toRun(json, folder) {
    const exposed = json.exposed_communication_s || {};
    const byCollective = Object.fromEntries(
      Object.entries(exposed).filter(([kind, time]) => kind !== 'total' && time > 0));
    return {
      ...json, folder, exposed, byCollective,
      strategyName: strategyName(json.strategy), meshes: json.meshes || meshes(json.strategy),
      interval: interval(json), reference: json.reference || {},
    };
  }

  // A plan's best candidates, as runs on the plan's number of GPUs.
  const planned = (plan) => plan.best.map((candidate, i) => ({
    ...candidate, gpus: plan.gpus, scenario: plan.model, fits: true, rank: i + 1, manifest: plan.manifest,
    price_per_gpu_hour: plan.price_per_gpu_hour, tokens: plan.tokens,
    strategy: { ...candidate.strategy, name: `choice ${i + 1}` },
    meshes: `P ${candidate.parameters}, G ${candidate.gradients}, OS ${candidate.optimizer}`,
  }));
  // A reproduction's points; those of an ablation have the overlap that was on.
  const reproduced = (reproduction) => reproduction.points.map((point) => ({
    ...point, scenario: point.model, strategy: point.system,
    reference: point.published_tgs || point.published_mfu ? {
      tgs: point.published_tgs || undefined, mfu: point.published_mfu || undefined,
      tgs_error: point.published_tgs ? point.tgs / point.published_tgs - 1 : undefined } : {},
  }));
  const runsOf = (content) => {
    if (Array.isArray(content.best)) return planned(content);
    if (Array.isArray(content.points) && content.format === 'amsp-reproduction-1') return reproduced(content);
    return Array.isArray(content.runs) ? content.runs : 'tgs' in content ? [content] : [];
  };
  const runs = files.filter((file) => file.content && typeof file.content === 'object')
    .flatMap((file) => runsOf(file.content).map((run) => toRun(run, file.folder)));

  // What is the same for every run says nothing; the rest tells the runs apart.
  const distinct = (keys) => new Set(keys).size;
  const varies = (of) => distinct(runs.map(of)) > 1;
  const at = (run) => `${run.scenario} ${run.strategyName} ${run.gpus}`;
  const meshesTell = distinct(runs.map((run) => `${at(run)} ${run.meshes}`)) > distinct(runs.map(at));
  const scenarioTells = varies((run) => run.scenario) && distinct(runs.map(at)) >
    distinct(runs.map((run) => `${run.strategyName} ${run.gpus}`));
  // A sweep's setting that only repeats the strategy or the number of GPUs tells nothing new.
  const telling = (run) => (run.settings || []).filter((setting) =>
    ![`strategy=${run.strategyName}`, `gpus=${run.gpus}`].includes(setting));
  for (const run of runs) {
    run.series = [scenarioTells ? run.scenario : null, run.strategyName, meshesTell ? run.meshes : null,
      run.overlap ? `overlap ${run.overlap}` : null, ...telling(run)].filter(Boolean).join(' · ');
    run.label = varies((other) => other.gpus) ? `${run.series} · ${run.gpus} GPUs` : run.series;
  }

  // Predicted beside measured: single collectives, and steps of whole schedules.
  function comparisonsOf({ content }) {
    if (!content || typeof content !== 'object') return [];
    if (Array.isArray(content.comparisons)) return content.comparisons;
    if (!Array.isArray(content.schedules)) return [];
    const steps = content.schedules.map((row) => ({ ...row, name: `step of ${row.name}` }));
    const single = content.collectives || [];
    return [...steps, ...single].filter((row) => row.predicted_s > 0 && row.measured_s > 0);
  }

  // The rows that a calibration was fitted to; its quantities are texts in base units ("12.5s").
  function measuredOf({ content }) {
    if (!content || typeof content !== 'object') return [];
    if (Array.isArray(content.residuals)) return content.residuals;
    const kinds = (content.collectives || {}).kinds;
    if (content.format !== 'amsp-calibration-1' || !kinds) return [];
    return Object.entries(kinds).flatMap(([kind, fit]) => (fit.rows || []).map((row) => ({
      kind, ranks: row.ranks, bytes: parseFloat(row.bytes), measured_s: parseFloat(row.time),
      predicted_s: parseFloat(row.predicted), factor: row.interval_factor, trust: row.trust,
      source: row.source })));
  }

  return {
    files, runs,
    plans: withContent((content) => Array.isArray(content.best)),
    bands: withContent((content) => Array.isArray(content.bands)),
    traces: withContent((content) => content.format === 'amsp-page-trace-1'),
    validations: files.map(comparisonsOf).filter((rows) => rows.length),
    calibrations: files.map((file) => ({ path: file.path, rows: measuredOf(file) }))
      .filter((calibration) => calibration.rows.length),
  };
})();

// Elements without any HTML parsing of data: text is always text.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== false && value !== undefined) made.setAttribute(key, value === true ? '' : value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
