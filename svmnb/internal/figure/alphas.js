// The JavaScript of alphas.go.

// bar is a bar, outlined and with its number where it is that of the bound.
function bar(p, api) {
	var a = api.coord([api.value(0), 0]), b = api.coord([api.value(1), api.value(2)]), end = api.value(3), up = api.value(2) > 0, y = Math.min(a[1], b[1]);
	var bar = { type: 'rect', shape: { x: a[0] + 0.5, y: y, width: Math.max(b[0] - a[0] - 1, 1), height: Math.abs(b[1] - a[1]) },
		style: { fill: T('$color/' + (end ? 0.45 : 0.85)), stroke: T('$color'), lineWidth: end ? 2 : 0 } };
	if (!end) return bar;
	return { type: 'group', children: [bar, { type: 'text', silent: true, x: (a[0] + b[0]) / 2, y: up ? y - 4 : y + Math.abs(b[1] - a[1]) + 4,
		style: { text: Math.abs(api.value(2)) + ' at C', fill: T('@ink'), fontSize: 12, align: 'center', verticalAlign: up ? 'bottom' : 'top' } }] };
}

// place is the label of a place on the axis, which ends with the bar of the bound.
function place(v) { return '$end' && v > $most ? '$end' : svm.num(v); }

function tip(p) {
	var v = p.value, name = document.createElement('b'), n = Math.abs(v[2]);
	name.textContent = p.seriesName;
	return name.outerHTML + '<br>' + (v[3] ? 'at the bound' : svm.num(v[0]) + ' ≤ ' + O.svm.name + ' &lt; ' + svm.num(v[1])) + '<br>' + n + (n === 1 ? ' point' : ' points');
}
