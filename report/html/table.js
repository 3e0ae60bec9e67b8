// SPDX-License-Identifier: Apache-2.0
// Tables: sortable by a button in each header, filterable by text.
'use strict';

// columns: [{title, of: row => value, show: value => text, name: true for text columns}]
function makeTable(caption, columns, rows, options = {}) {
  const body = element('tbody');
  const long = columns.filter((column) => column.long);
  const across = columns.filter((column) => !column.long);
  const headers = across.map((column, i) => {
    const cell = element('th', { scope: 'col', class: column.name ? 'name' : false });
    if (options.sortable === false) cell.append(column.title);
    else cell.append(element('button', { type: 'button', 'data-column': i }, column.title));
    return cell;
  });
  const table = element('table', {},
    element('caption', { class: 'quiet' }, caption),
    element('thead', {}, element('tr', {}, ...headers)), body);
  const text = (column, row) => {
    const value = column.of(row);
    return column.show ? column.show(value) : value === undefined || value === null ? '–' : String(value);
  };
  // Long texts have a line of their own across the table, which stays in sight when it is scrolled.
  const details = (row) => {
    const said = long.filter((column) => column.of(row)).map((column) => `${column.title}: ${text(column, row)}`);
    return said.length ? [element('tr', { class: 'detail' }, element('td', { colspan: across.length },
      element('div', {}, said.join('. '))))] : [];
  };
  let order = rows.map((row, i) => i);
  let needle = '';

  function draw() {
    const shown = order.filter((i) => !needle ||
      columns.some((column) => text(column, rows[i]).toLowerCase().includes(needle)));
    body.replaceChildren(...shown.flatMap((i) => [element('tr', {}, ...across.map((column, c) => {
      const tag = c === 0 && column.name ? 'th' : 'td';
      const mark = column.mark ? ` ${column.mark(rows[i]) || ''}` : '';
      return element(tag, { class: (column.name ? 'name' : '') + (column.hash ? ' hash' : '') + mark, scope: tag === 'th' ? 'row' : false },
        text(column, rows[i]));
    })), ...details(rows[i])]));
    return shown.length;
  }

  function sortBy(column, direction) {
    const key = (i) => across[column].of(rows[i]);
    const missing = (value) => value === undefined || value === null || Number.isNaN(value);
    order = rows.map((row, i) => i).sort((a, b) => {
      const x = key(a), y = key(b);
      if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
      const by = typeof x === 'number' && typeof y === 'number' ? x - y
        : String(x).localeCompare(String(y), 'en', { numeric: true });
      return direction * by || a - b;
    });
    headers.forEach((header, i) => {
      if (i === column) header.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
      else header.removeAttribute('aria-sort');
    });
    draw();
  }

  table.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-column]');
    if (!button) return;
    const column = Number(button.dataset.column);
    const now = headers[column].getAttribute('aria-sort');
    sortBy(column, now === 'ascending' || (!now && !across[column].name) ? -1 : 1);
  });
  draw();

  const scroll = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, table);
  if (!options.filter) return scroll;
  const count = element('span', { 'aria-live': 'polite' }, `${rows.length} rows`);
  const input = element('input', { type: 'search', placeholder: 'Filter', 'aria-label': `Filter: ${caption}` });
  input.addEventListener('input', () => {
    needle = input.value.trim().toLowerCase();
    count.textContent = `${draw()} of ${rows.length} rows`;
  });
  return element('div', {}, element('div', { class: 'filter' }, input, count), scroll);
}

// The table behind a chart, folded away.
function tableBehind(caption, columns, rows, options = {}) {
  return element('details', {}, element('summary', {}, 'Table'), makeTable(caption, columns, rows, options));
}
