// The JavaScript of multiples.go.

// note writes what came out above a panel.
function note(p) {
	var c = p.coordSys;
	return { type: 'text', silent: true, x: c.x, y: c.y - 5, style: { text: O.svm.notes[$panel], fill: T('@soft'), fontSize: c.width < 150 ? 10 : 12,
		verticalAlign: 'bottom', width: c.width, overflow: 'truncate' } };
}

function layout(w, top) {
	var s = O.svm, narrow = w < 520, left = narrow ? 54 : 66, right = narrow ? 8 : 16, across = narrow ? 8 : 14, down = 24;
	var pw = (w - left - right - across * (s.columns - 1)) / s.columns, ph = Math.max(60, Math.min(pw * s.aspect, narrow ? 180 : 260));
	// Settings that are too long for their row or column have two lines.
	var lines = function (axes, room) {
		return axes.map(function (a) { return { nameTextStyle: { fontSize: narrow ? 11 : 13, lineHeight: 14 }, name: (narrow ? 6.6 : 7.8) * String(a.name || '').length > room ? a.name.replace(' = ', '\n= ') : a.name }; });
	};
	var second = function (axes) { return axes.some(function (a) { return /\n/.test(a.name); }) ? 16 : 0; };
	var up = lines(O.yAxis, ph + down), along = lines(O.xAxis, pw + across);
	left += second(up);
	pw -= second(up) / s.columns;
	var grids = O.grid.map(function (g, k) {
		var r = Math.floor(k / s.columns), c = k % s.columns;
		return { left: left + c * (pw + across), top: top + 16 + r * (ph + down), width: pw, height: ph };
	});
	return { height: Math.round(top + 16 + s.rows * (ph + down) + 34) + second(along), option: { grid: grids, xAxis: along, yAxis: up } };
}

function tip(p) {
	if (!p.value || p.value.length < 3) return '';
	var name = document.createElement('i');
	name.textContent = p.seriesName;
	return '<b>point ' + p.value[2] + '</b> · ' + name.innerHTML + '<br>(' + svm.num(p.value[0], 15) + ', ' + svm.num(p.value[1], 15) + ')';
}
