// page.js -- tables of the page: a click on a column sorts, typed text filters, another click shows all rows. Without
// this script all rows are shown.
(function () {
	'use strict';
	const make = (name, text, cls) => Object.assign(document.createElement(name), { textContent: text || '', className: cls || '' });
	const value = cell => {
		const number = cell.querySelector('data');
		return number ? Number(number.value) : (cell.title || cell.textContent).trim();
	};
	// Absent values last, numbers by value, names with the numbers in them by value.
	const compare = (a, b) => a === '–' || b === '–' ? (a === '–') - (b === '–') :
		typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
	function sort(table, column, button) {
		const head = button.parentNode, number = head.classList.contains('n');
		const was = head.getAttribute('aria-sort');
		const up = was ? was === 'descending' : !number;
		const body = table.tBodies[0], sign = up ? 1 : -1;
		table.querySelectorAll('th').forEach(th => th.removeAttribute('aria-sort'));
		head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
		const rows = [...body.rows].map((row, i) => ({ row, i, key: value(row.cells[column]) }));
		rows.sort((a, b) => a.key === '–' || b.key === '–' ? compare(a.key, b.key) || a.i - b.i : sign * compare(a.key, b.key) || a.i - b.i);
		body.append(...rows.map(r => r.row));
	}
	document.querySelectorAll('.table').forEach(box => {
		const table = box.querySelector('table'), rows = [...table.tBodies[0].rows];
		const limit = rows.filter(r => !r.classList.contains('rest')).length;
		let all = false, typed = '';
		const bar = make('div', '', 'tools'), filter = make('input'), count = make('span', '', 'note'), more = make('button', '', 'link');
		// Show as many rows as initially, of those that contain the typed text, in the current order.
		function show() {
			let found = 0;
			for (const row of table.tBodies[0].rows) {
				const has = !typed || [...row.cells].some(c => (c.title + ' ' + c.textContent).toLowerCase().includes(typed));
				found += has;
				row.hidden = !has || (!all && found > limit);
			}
			count.textContent = typed ? found + (found === 1 ? ' row' : ' rows') : '';
			more.hidden = found <= limit;
			more.textContent = all ? 'Show the first ' + limit : 'Show all ' + found;
		}
		[...table.tHead.rows[0].cells].forEach((th, i) => {
			const button = make('button', th.textContent);
			button.type = more.type = 'button';
			th.replaceChildren(button);
			button.addEventListener('click', () => { sort(table, i, button); show(); });
		});
		// A few rows need no filter.
		if (rows.length > 7) {
			filter.type = 'search';
			filter.placeholder = 'Filter';
			filter.setAttribute('aria-label', 'Rows that hold');
			filter.addEventListener('input', () => { typed = filter.value.trim().toLowerCase(); show(); });
			bar.append(filter, count);
			box.prepend(bar);
		}
		if (rows.length > limit) {
			more.addEventListener('click', () => { all = !all; show(); });
			box.querySelector('.scroll').after(more);
		}
		show();
	});
	// Mark boxes that are wider than their space, and whether they continue to the right.
	const boxes = [...document.querySelectorAll('.scroll')];
	const ends = s => s.classList.toggle('end', s.scrollLeft + s.clientWidth >= s.scrollWidth - 1);
	const hint = () => boxes.forEach(s => { s.classList.toggle('wide', s.scrollWidth > s.clientWidth + 1); ends(s); });
	boxes.forEach(s => s.addEventListener('scroll', () => ends(s), { passive: true }));
	addEventListener('resize', hint);
	addEventListener('load', hint);
	document.querySelectorAll('details').forEach(d => d.addEventListener('toggle', hint));
	document.querySelectorAll('.choice > input').forEach(i => i.addEventListener('change', hint));
	hint();
})();
