// SPDX-License-Identifier: Apache-2.0
// A zoomable timeline of a Chrome trace: a lane for each stream and link. Mouse, touch, keyboard.
'use strict';

const kCategoryOrder = ['forward', 'backward', 'optimizer', 'update', 'all_gather', 'reduce_scatter',
  'all_reduce', 'broadcast', 'reduce', 'all_to_all', 'send_recv', 'link', 'repetitions', 'other'];

// Communication by its kind, computation by its phase.
function categoryOf(event) {
  const name = event.cat === 'compute' || event.cat === 'marker' ? (event.args || {}).phase : event.cat;
  return kCategoryOrder.includes(name) ? name : 'other';
}

class Timeline {
  constructor(trace, label) {
    this.trace = trace;
    this.laneHeight = 22;
    this.headHeight = 18;
    this.axisHeight = 24;
    this.view = { start: 0, end: trace.end };
    this.selected = null;
    this.canvas = element('canvas', { class: 'timeline', tabindex: '0', role: 'application',
      'aria-label': `${label}. Left and right arrows step through operations, up and down change the stream, plus and minus zoom, 0 shows all.` });
    this.status = element('p', { class: 'lead', 'aria-live': 'polite' }, 'Drag to move, Ctrl+wheel or the buttons to zoom, double-click an operation to zoom to it.');
    this.rows = this.layOut();
    const tool = (text, name, action) => {
      const button = element('button', { type: 'button', 'aria-label': name, title: name }, text);
      button.addEventListener('click', action);
      return button;
    };
    this.node = element('figure', {},
      element('div', { class: 'tools' },
        tool('+', 'Zoom in', () => this.zoom(0.5)), tool('−', 'Zoom out', () => this.zoom(2)),
        tool('◀', 'Earlier', () => this.pan(-0.5)), tool('▶', 'Later', () => this.pan(0.5)),
        tool('All', 'Show the whole step', () => this.show(0, trace.end))),
      this.legend(), this.canvas, this.status);
    this.listen();
  }

  layOut() {
    const rows = [];
    let y = this.axisHeight, process = null;
    for (const lane of this.trace.lanes) {
      if (lane.process !== process) {
        process = lane.process;
        rows.push({ y, head: process });
        y += this.headHeight;
      }
      rows.push({ y, lane });
      y += this.laneHeight;
    }
    this.height = y + 4;
    this.width = 600;
    this.gutter = 0;
    return rows;
  }

  legend() {
    const present = new Set(this.trace.lanes.flatMap((lane) => lane.events.map(categoryOf)));
    this.swatches = kCategoryOrder.filter((name) => present.has(name))
      .map((name) => ({ name, mark: element('i') }));
    return element('ul', { class: 'legend', 'aria-label': 'Colours' },
      ...this.swatches.map(({ name, mark }) => element('li', {}, mark, name.replace(/_/g, ' '))));
  }

  get scale() { return (this.width - this.gutter) / (this.view.end - this.view.start); }
  x(time) { return this.gutter + (time - this.view.start) * this.scale; }
  time(x) { return this.view.start + (x - this.gutter) / this.scale; }

  show(start, end) {
    const length = Math.min(Math.max(end - start, 0.01), this.trace.end);
    const from = Math.min(Math.max(start, 0), this.trace.end - length);
    this.view = { start: from, end: from + length };
    this.draw();
  }
  zoom(factor, around = (this.view.start + this.view.end) / 2) {
    this.show(around - (around - this.view.start) * factor, around + (this.view.end - around) * factor);
  }
  pan(share) {
    const by = share * (this.view.end - this.view.start);
    this.show(this.view.start + by, this.view.end + by);
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 600;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const context = this.canvas.getContext('2d');
    context.scale(ratio, ratio);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    const names = this.trace.lanes.map((lane) => context.measureText(lane.name).width + 10);
    this.gutter = Math.min(Math.max(...names), 0.28 * this.width);
    this.colours = Object.fromEntries(kCategoryOrder.map((name, i) => [name, colour(i)]));
    this.colours.link = css('--muted');
    this.colours.repetitions = '#8792a0';
    for (const { name, mark } of this.swatches) mark.style.background = this.colours[name];
    this.drawAxis(context);
    for (const row of this.rows)
      if (row.head) this.drawHead(context, row);
      else this.drawLane(context, row);
  }

  drawAxis(context) {
    const span = this.view.end - this.view.start;
    const rough = span / Math.max(2, (this.width - this.gutter) / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    context.fillStyle = css('--muted');
    context.strokeStyle = css('--line');
    for (let t = Math.ceil(this.view.start / step) * step; t <= this.view.end; t += step) {
      const x = this.x(t);
      context.beginPath();
      context.moveTo(x, this.axisHeight - 4);
      context.lineTo(x, this.height);
      context.stroke();
      const text = Show.seconds(t / 1e6);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x - half, this.gutter), this.width - 2 * half), this.axisHeight / 2);
    }
  }

  drawHead(context, row) {
    context.fillStyle = css('--text');
    context.font = `bold ${context.font.replace('bold ', '')}`;
    context.fillText(row.head, 2, row.y + this.headHeight / 2 + 1);
    context.font = context.font.replace('bold ', '');
  }

  drawLane(context, { y, lane }) {
    const height = this.laneHeight - 4;
    const events = lane.events;
    context.save();
    context.beginPath();
    context.rect(this.gutter, y, this.width - this.gutter, this.laneHeight);
    context.clip();
    for (let i = this.firstVisible(lane); i < events.length && events[i].ts <= this.view.end; ++i) {
      const event = events[i];
      const x0 = this.x(event.ts), x1 = this.x(event.ts + event.dur);
      const width = Math.max(x1 - x0, 0.7);
      context.fillStyle = this.colours[categoryOf(event)];
      context.fillRect(x0, y + 2, width, height);
      if (event === this.selected) {
        context.strokeStyle = css('--text');
        context.lineWidth = 2;
        context.strokeRect(x0, y + 2, width, height);
        context.lineWidth = 1;
      }
      if (width > 46) this.drawLabel(context, event.name, Math.max(x0, this.gutter), x0 + width, y + 2 + height / 2);
    }
    context.restore();
    context.fillStyle = css('--text');
    context.fillText(this.shortened(context, lane.name, this.gutter - 8), 4, y + 2 + height / 2);
  }

  shortened(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    let length = text.length;
    while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) --length;
    return `${text.slice(0, length)}…`;
  }

  drawLabel(context, text, x0, x1, y) {
    context.save();
    context.beginPath();
    context.rect(x0, y - 10, x1 - x0, 20);
    context.clip();
    context.fillStyle = isDark() ? '#000000' : '#ffffff';
    const width = context.measureText(text).width;
    context.fillText(text, Math.max(x0 + 3, (x0 + Math.min(x1, this.width)) / 2 - width / 2), y);
    context.restore();
  }

  // The first event that may still be seen (events of a lane hardly overlap).
  firstVisible(lane) {
    let low = 0, high = lane.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.events[middle].ts < this.view.start) low = middle + 1;
      else high = middle;
    }
    while (low > 0 && lane.events[low - 1].ts + lane.events[low - 1].dur > this.view.start) --low;
    return low;
  }

  at(x, y) {
    const row = this.rows.find((r) => r.lane && y >= r.y && y < r.y + this.laneHeight);
    if (!row || x < this.gutter) return null;
    const time = this.time(x), slack = this.time(x + 2) - time;
    return row.lane.events.find((e) => e.ts - slack <= time && time <= e.ts + e.dur + slack) || null;
  }

  facts(event) {
    const args = event.args || {};
    const facts = [['start', Show.seconds(event.ts / 1e6)], ['duration', Show.seconds(event.dur / 1e6)]];
    if (args.wait_us !== undefined) facts.push(['waited', Show.seconds(args.wait_us / 1e6)]);
    if (args.bytes !== undefined) facts.push(['bytes', Show.bytes(args.bytes)]);
    if (args.busbw_GBps !== undefined) facts.push(['bus bandwidth', `${Show.number(args.busbw_GBps)} GB/s`]);
    if (args.GBps !== undefined) facts.push(['rate', `${Show.number(args.GBps)} GB/s`]);
    if (args.tflops_per_s !== undefined) facts.push(['rate', `${Show.number(args.tflops_per_s)} TFLOP/s`]);
    if (args.ranks !== undefined) facts.push(['ranks', `${args.ranks} × ${args.groups} groups`]);
    if (args.phase) facts.push(['phase', args.phase]);
    if (args.repetition !== undefined) facts.push(['repetition', String(args.repetition)]);
    return facts;
  }
}
