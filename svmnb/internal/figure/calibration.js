// The JavaScript of calibration.go.

function bar(p, api) {
	var a = api.coord([api.value(0), api.value(1)]), b = api.coord([api.value(0), api.value(2)]), c = T('$color');
	var line = function (x1, y1, x2, y2) { return { type: 'line', shape: { x1: x1, y1: y1, x2: x2, y2: y2 }, style: { stroke: c, lineWidth: 1.6 } }; };
	return { type: 'group', silent: true, children: [line(a[0], a[1], b[0], b[1]), line(a[0] - 4, a[1], a[0] + 4, a[1]), line(b[0] - 4, b[1], b[0] + 4, b[1])] };
}

function tip(p) {
	var v = p.value;
	if (!v || v.length < 5) return '';
	return v[2] + (v[2] === 1 ? ' point' : ' points') + '<br>predicted ' + svm.num(v[0]) + ', observed ' + svm.num(v[1]) + '<br>95 % interval ' + svm.num(v[3]) + ' … ' + svm.num(v[4]);
}
