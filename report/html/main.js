// SPDX-License-Identifier: Apache-2.0
// Puts the sections on the page. With #selftest in the address it also exercises itself and leaves
// what it found in the attribute data-selftest of the body (tests/report/html_report_test.cpp).
'use strict';

const problems = [];
addEventListener('error', (event) => problems.push(String(event.message)));

function build() {
  const main = document.getElementById('main');
  const contents = document.getElementById('contents');
  const sections = [sectionAnswer, sectionScaling, sectionBands, sectionRuns, sectionCommunication, sectionMemory,
    sectionMemoryTimeline, sectionTimeline, sectionLinks, sectionValidation, sectionCalibration, sectionManifest];
  for (const make of sections) {
    const section = make();
    if (!section) continue;
    main.append(element('section', { id: section.id, 'aria-labelledby': `${section.id}-title` },
      element('h2', { id: `${section.id}-title` }, section.title),
      ...section.nodes.filter(Boolean)));
    contents.append(element('li', {}, element('a', { href: `#${section.id}` }, section.title)));
  }
  Charts.start();
  for (const timeline of timelines) timeline.draw();
}

function inked(canvas) {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let i = 3; i < pixels.length; i += 4) count += pixels[i] > 0;
  return count;
}

function selfTest() {
  const found = { charts: {}, hover: null, keyboard: null, zoom: null, sorted: null, filtered: null, wide: null };
  for (const entry of Charts.made) found.charts[entry.name] = inked(entry.canvas);
  const timeline = timelines[0];
  if (timeline) {
    const row = timeline.rows.find((r) => r.lane);
    const box = timeline.canvas.getBoundingClientRect();
    const target = row.lane.events.reduce((a, b) => (b.dur > a.dur ? b : a));
    const at = { clientX: box.left + timeline.x(target.ts + target.dur / 2), clientY: box.top + row.y + 8, bubbles: true };
    timeline.canvas.dispatchEvent(new PointerEvent('pointermove', at));
    found.hover = Tooltip.node.hidden ? null : Tooltip.node.textContent;
    timeline.canvas.dispatchEvent(new PointerEvent('pointerleave', at));
    const before = timeline.view.end - timeline.view.start;
    timeline.zoom(0.5);
    found.zoom = (timeline.view.end - timeline.view.start) / before;
    timeline.canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    found.keyboard = timeline.status.textContent;
    found.timeline = inked(timeline.canvas);
    timeline.show(0, timeline.trace.end);
    Tooltip.hide();
  }
  const runs = document.getElementById('runs');
  const header = runs && [...runs.querySelectorAll('th button')].find((button) => button.textContent === 'TGS');
  if (header) {
    const column = Number(header.dataset.column);
    const read = () => [...runs.querySelectorAll('tbody tr:not(.detail)')].map((row) => row.children[column].textContent);
    header.click();
    found.sorted = { descending: read(), aria: header.parentElement.getAttribute('aria-sort') };
    header.click();
    found.sorted.ascending = read();
    const search = runs.querySelector('input[type=search]');
    if (search) {
      search.value = 'no such run';
      search.dispatchEvent(new Event('input'));
      found.filtered = read().length;
      search.value = '';
      search.dispatchEvent(new Event('input'));
    }
  }
  const answer = document.getElementById('answer');
  found.answer = answer && answer.textContent;
  found.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  found.problems = problems;
  document.body.setAttribute('data-selftest', JSON.stringify(found));
}

try {
  build();
} catch (error) {
  problems.push(String(error));
  document.getElementById('main').append(element('p', { class: 'bad' }, `This report cannot be drawn: ${error}`));
}
if (location.hash === '#selftest') setTimeout(selfTest, 300);
