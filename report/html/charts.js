// SPDX-License-Identifier: Apache-2.0
// Charts by Chart.js in the colours of the page (light, dark, print), each with its table behind.
'use strict';

const Palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#8c6d00', '#7b3fa0', '#7f7f7f', '#4d7c0f'];
const DarkPalette = ['#4aa8e0', '#ff8a4c', '#2fcf9f', '#e69cc8', '#e6b422', '#8fd0f5', '#c9a93a', '#c49be0', '#a9a9a9', '#a3d15a'];
const isPrinting = () => document.documentElement.classList.contains('printing');
const isDark = () => !isPrinting() && matchMedia('(prefers-color-scheme: dark)').matches;
const isNarrow = () => innerWidth < 560;
const colour = (i) => (isDark() ? DarkPalette : Palette)[i % Palette.length];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Vertical bars for datasets with `intervals: [[low, high] or null]`, one per point.
const errorBars = {
  id: 'errorBars',
  afterDatasetsDraw(chart) {
    chart.data.datasets.forEach((dataset, d) => {
      if (!dataset.intervals || !chart.isDatasetVisible(d)) return;
      const context = chart.ctx;
      context.save();
      context.strokeStyle = dataset.borderColor;
      context.lineWidth = 1.5;
      chart.getDatasetMeta(d).data.forEach((point, i) => {
        if (!dataset.intervals[i]) return;
        const [low, high] = dataset.intervals[i].map((y) => chart.scales.y.getPixelForValue(y));
        context.beginPath();
        for (const [x0, y0, x1, y1] of [[0, low, 0, high], [-4, low, 4, low], [-4, high, 4, high]]) {
          context.moveTo(point.x + x0, y0);
          context.lineTo(point.x + x1, y1);
        }
        context.stroke();
      });
      context.restore();
    });
  },
};

const Charts = {
  made: [],

  // make: () => Chart.js configuration, called anew when the colours change.
  add(name, label, make, short = false) {
    const canvas = element('canvas', { role: 'img', 'aria-label': label, id: `chart-${name}` });
    this.made.push({ name, canvas, make, chart: null });
    return element('figure', {}, element('figcaption', {}, label),
      element('div', { class: short ? 'chart short' : 'chart' }, canvas));
  },

  draw() {
    Chart.defaults.color = css('--text');
    Chart.defaults.borderColor = css('--line');
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.plugins.legend.labels.boxWidth = 12;
    Chart.defaults.plugins.legend.labels.boxHeight = 8;
    for (const entry of this.made) {
      if (entry.chart) entry.chart.destroy();
      entry.chart = new Chart(entry.canvas, entry.make());
    }
  },

  start() {
    this.draw();
    const redraw = (printing) => () => {
      document.documentElement.classList.toggle('printing', printing);
      this.draw();
      for (const timeline of timelines) timeline.draw();
    };
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw(false));
    addEventListener('beforeprint', redraw(true));
    addEventListener('afterprint', redraw(false));
  },
};

const axis = (title, more = {}) => ({ title: { display: true, text: title }, ...more });

// Points against a base-2 logarithmic axis of GPUs.
function gpuAxis(values) {
  return axis('GPUs', {
    type: 'logarithmic',
    min: Math.min(...values) / 1.15, max: Math.max(...values) * 1.15,
    afterBuildTicks: (scale) => { scale.ticks = [...new Set(values)].map((value) => ({ value })); },
    ticks: { callback: (value) => String(value), autoSkip: false, maxRotation: 0 },
  });
}

const kOctave = 10;  // sizes are marked at powers of 2 ** 10
// Sizes in bytes on a logarithmic axis, marked at 1 B, 1 KiB, 1 MiB … and between them.
function sizeAxis(title, values) {
  const low = Math.floor(Math.log2(Math.min(...values))), high = Math.ceil(Math.log2(Math.max(...values)));
  const step = high - low > 12 ? kOctave / 2 : 2;
  const marks = [];
  for (let power = Math.ceil(low / step) * step; power <= high; power += step) marks.push({ value: 2 ** power });
  return axis(title, { type: 'logarithmic', min: 2 ** low, max: 2 ** high,
    afterBuildTicks: (scale) => { scale.ticks = marks; },
    ticks: { callback: (value) => Show.bytes(value), autoSkip: false, maxRotation: 0 } });
}

// Plain figures at 1, 2 and 5 times powers of ten.
function logAxis(title, values) {
  const positive = values.filter((value) => value > 0);
  const low = Math.min(...positive), high = Math.max(...positive);
  const all = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const digit of [1, 2, 5]) all.push(digit * 10 ** power);
  const from = Math.max(...all.filter((value) => value <= low)), to = Math.min(...all.filter((value) => value >= high));
  const inside = all.filter((value) => value >= from && value <= to);
  const few = inside.length > 10 ? inside.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9) : inside;
  return axis(title, { type: 'logarithmic', min: from, max: to,
    afterBuildTicks: (scale) => { scale.ticks = few.map((value) => ({ value })); },
    ticks: { callback: (value) => Show.number(value), autoSkip: false } });
}

// A label in several lines where the chart is narrow.
const folded = (label, width) => (width < 560 ? label.split(' · ') : label);

function stackedBars(labels, parts, yTitle, valueText) {
  return {
    type: 'bar',
    data: {
      labels,
      datasets: parts.map((part, i) => ({ label: part.label, data: part.values, backgroundColor: colour(i) })),
    },
    options: {
      indexAxis: 'y',
      scales: { x: axis(yTitle, { stacked: true, beginAtZero: true }),
        y: { stacked: true, ticks: { autoSkip: false, callback(value) { return folded(labels[value], this.chart.width); } } } },
      plugins: { tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${valueText(item.raw)}` } } },
    },
  };
}
