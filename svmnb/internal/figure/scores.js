// The JavaScript of scores.go.

function bar(p, api) {
	var a = api.coord([api.value(0), 0]), b = api.coord([api.value(1), api.value(2)]);
	return { type: 'rect', shape: { x: a[0] + 0.5, y: Math.min(a[1], b[1]), width: Math.max(b[0] - a[0] - 1, 1), height: Math.abs(b[1] - a[1]) },
		style: { fill: T('$color/0.85') } };
}

function tip(p) {
	var v = p.value, name = document.createElement('b');
	name.textContent = p.seriesName;
	return name.outerHTML + '<br>' + svm.num(v[0]) + ' ≤ f &lt; ' + svm.num(v[1]) + '<br>' + Math.abs(v[2]) + (Math.abs(v[2]) === 1 ? ' point' : ' points');
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 52 : 64, right = narrow ? 14 : 26, h = narrow ? 260 : 380;
	return { height: top + h + 52, option: { grid: { left: left, right: right, top: top, height: h } } };
}
