// SPDX-License-Identifier: Apache-2.0
// Mouse, touch and keyboard of the timeline.
'use strict';

const Tooltip = {
  node: document.getElementById('tooltip'),
  show(title, facts, x, y) {
    this.node.replaceChildren(element('b', {}, title),
      element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])));
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    this.node.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
    this.node.style.top = `${y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 10)}px`;
  },
  hide() { this.node.hidden = true; },
};

Timeline.prototype.listen = function listen() {
  const canvas = this.canvas;
  const pointers = new Map();
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event.offsetX);
    this.hover(event);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (pointers.has(event.pointerId)) this.drag(pointers, event);
    else this.hover(event);
  });
  for (const type of ['pointerup', 'pointercancel'])
    canvas.addEventListener(type, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener('pointerleave', () => Tooltip.hide());
  canvas.addEventListener('dblclick', (event) => {
    const hit = this.at(event.offsetX, event.offsetY);
    if (hit) this.show(hit.ts - hit.dur, hit.ts + 2 * hit.dur);
  });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // the page scrolls
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.time(event.offsetX));
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => this.key(event));
  canvas.addEventListener('blur', () => Tooltip.hide());
  new ResizeObserver(() => { if (canvas.clientWidth !== this.width) this.draw(); }).observe(canvas);
};

Timeline.prototype.hover = function hover(event) {
  const hit = this.at(event.offsetX, event.offsetY);
  if (!hit) return Tooltip.hide();
  Tooltip.show(hit.name, this.facts(hit), event.clientX, event.clientY);
};

Timeline.prototype.drag = function drag(pointers, event) {
  const before = new Map(pointers);
  pointers.set(event.pointerId, event.offsetX);
  if (pointers.size === 1) {
    const by = this.time(before.get(event.pointerId)) - this.time(event.offsetX);
    return this.show(this.view.start + by, this.view.end + by);
  }
  // Two fingers: the times under them stay under them.
  const span = (positions) => Math.max(...positions) - Math.min(...positions);
  const was = span([...before.values()]), now = span([...pointers.values()]);
  const middle = [...pointers.values()].reduce((sum, x) => sum + x, 0) / pointers.size;
  if (was > 4 && now > 4) this.zoom(was / now, this.time(middle));
};

Timeline.prototype.key = function key(event) {
  const lanes = this.trace.lanes;
  let lane = Math.max(0, lanes.findIndex((l) => l.events.includes(this.selected)));
  const events = () => lanes[lane].events;
  const nearest = (time) => events().reduce((best, e) => (Math.abs(e.ts - time) < Math.abs(best.ts - time) ? e : best));
  const now = this.selected || null;
  const moves = {
    ArrowRight: () => (now ? events()[Math.min(events().indexOf(now) + 1, events().length - 1)] : events()[0]),
    ArrowLeft: () => (now ? events()[Math.max(events().indexOf(now) - 1, 0)] : events()[0]),
    ArrowDown: () => { lane = Math.min(lane + 1, lanes.length - 1); return nearest(now ? now.ts : 0); },
    ArrowUp: () => { lane = Math.max(lane - 1, 0); return nearest(now ? now.ts : 0); },
  };
  const views = {
    '+': () => this.zoom(0.5, now ? now.ts : undefined), '=': () => this.zoom(0.5, now ? now.ts : undefined),
    '-': () => this.zoom(2, now ? now.ts : undefined), 0: () => this.show(0, this.trace.end),
    Escape: () => Tooltip.hide(),
  };
  if (!lanes.length || (!(event.key in moves) && !(event.key in views))) return;
  event.preventDefault();
  if (event.key in views) return views[event.key]();
  this.select(moves[event.key](), lanes[lane]);
};

Timeline.prototype.select = function select(event, lane) {
  this.selected = event;
  const length = this.view.end - this.view.start;
  if (event.ts < this.view.start || event.ts + event.dur > this.view.end)
    this.show(event.ts + event.dur / 2 - length / 2, event.ts + event.dur / 2 + length / 2);
  this.draw();
  const facts = this.facts(event);
  this.status.textContent = `${lane.name}: ${event.name}, ` + facts.map((fact) => fact.join(' ')).join(', ');
  const box = this.canvas.getBoundingClientRect();
  const row = this.rows.find((r) => r.lane === lane);
  Tooltip.show(event.name, facts, box.left + Math.max(0, this.x(event.ts)), box.top + row.y + this.laneHeight);
};
