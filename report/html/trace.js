// SPDX-License-Identifier: Apache-2.0
// Traces as the page holds them (report/page_trace.hpp), and whose step each of them is.
'use strict';

const kSliceNumbers = 7;  // gap to the one before [ns], length [ns], text, kind, wait [us], rate, repetition

function readLane(trace, lane) {
  const events = [];
  const n = lane.slices;
  let end = 0;
  for (let i = 0; i < n.length; i += kSliceNumbers) {
    const kind = trace.kinds[n[i + 3]];
    const args = { phase: kind.phase, ranks: kind.ranks, groups: kind.groups, bytes: kind.bytes, period_us: kind.period_us };
    if (kind.waits) args.wait_us = n[i + 4];
    if (kind.rate) args[kind.rate] = n[i + 5];
    if (n[i + 6] >= 0) args.repetition = n[i + 6];
    const start = end + n[i];
    end = start + n[i + 1];
    events.push({ name: trace.texts[n[i + 2]], cat: kind.cat, ts: start / 1e3, dur: n[i + 1] / 1e3, args });
  }
  return { ...lane, events };
}

function readTrace(trace) {
  const lanes = trace.lanes.map((lane) => readLane(trace, lane));
  let end = 0;
  for (const lane of lanes) for (const event of lane.events) end = Math.max(end, event.ts + event.dur);
  const drawn = lanes.filter((lane) => lane.events.every((event) => event.cat === 'link')).length;
  return { lanes, links: trace.links, hidden: trace.links - drawn, end: end || 1, other: trace.other || {},
    memory: trace.memory.map(([time, bytes]) => ({ time: time / 1e3, bytes })) };
}

// The run whose step a trace shows: of the same folder, with the same step time where one has it.
function runOfTrace({ folder, content }) {
  const { world, step_time_s: time } = content.other || {};
  const beside = Data.runs.filter((run) => run.folder === folder && (run.gpus === world || run.rank));
  return beside.find((run) => run.step_time_s === time) || (beside.length === 1 ? beside[0] : undefined);
}

const sameRun = (a, b) => Boolean(a && b) && (a === b ||
  ['gpus', 'step_time_s', 'peak_memory_bytes', 'strategyName'].every((key) => a[key] === b[key]));

function titleOfRun(run) {
  const parts = [run.label.includes(run.scenario) || run.rank ? null : run.scenario, run.label,
    run.rank || run.label.includes(run.meshes) ? run.rank && run.meshes : run.meshes,
    run.label.includes('GPUs') ? null : `${run.gpus} GPUs`];
  return parts.filter(Boolean).join(', ');
}

// The traces with their runs, that of the answer first, each step once.
let shown = null;
function shownTraces() {
  if (!shown) shown = findTraces();
  return shown;
}

function findTraces() {
  const best = bestRun();
  const seen = new Set();
  const traces = Data.traces.filter((file) => !seen.has(file.sha256) && seen.add(file.sha256))
    .map((file) => ({ ...file, run: runOfTrace(file), trace: readTrace(file.content) }))
    .map((file) => ({ ...file, best: sameRun(file.run, best),
      name: file.run ? titleOfRun(file.run) : file.trace.other.schedule || file.path }));
  traces.sort((a, b) => b.best - a.best);
  const missing = best && traces.length && !traces[0].best
    ? `No trace of the run of the answer (${titleOfRun(best)}) is here; simulate -o writes one, and a sweep of its best run.` : '';
  return { traces, missing };
}

function fitting(run) {
  if (!run || run.fits === undefined) return '';
  return run.fits ? ', fits the GPU memory' : ', does not fit the GPU memory';
}
