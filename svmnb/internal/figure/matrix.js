// The JavaScript of matrix.go.

// cells is one path for each shade, the names of the classes, and the scale.
function cells(p, api) {
	var s = O.svm, m = s.cells.length, c = p.coordSys, paths = [], out = [], k;
	var at = []; for (k = 0; k <= m; k++) at.push(Math.round(k * c.width / m));
	for (k = 0; k < s.shades; k++) paths.push('');
	s.cells.forEach(function (row, i) {
		for (var j = 0, e; j < m; j = e) {
			for (e = j + 1; e < m && row[e] === row[j]; e++);
			// Cells reach under their neighbours, so that no seams are seen where a picture is scaled.
			var x = c.x + at[j], y = c.y + at[i], right = c.x + at[e] + (e < m ? 0.5 : 0), down = c.y + at[i + 1] + (i + 1 < m ? 0.5 : 0);
			paths[row.charCodeAt(j) - 97] += 'M' + x + ' ' + y + 'L' + right + ' ' + y + 'L' + right + ' ' + down + 'L' + x + ' ' + down + 'Z';
		}
	});
	paths.forEach(function (d, k) { if (d) out.push({ type: 'path', silent: true, shape: { pathData: d }, style: { fill: svm.heat((k + 0.5) / s.shades) } }); });
	var text = function (x, y, t, how) { out.push({ type: 'text', silent: true, x: x, y: y, style: Object.assign({ text: t, fill: T('@soft'), fontSize: 12 }, how) }); };
	s.starts.slice(0, -1).forEach(function (a, k) {
		var b = s.starts[k + 1], mid = (a + b) / 2 / m * c.width, room = (b - a) / m * c.width;
		if (k) [['x1', 'x2', 'y1', 'y2', c.x, c.y], ['y1', 'y2', 'x1', 'x2', c.y, c.x]].forEach(function (q) {
			var shape = {}; shape[q[0]] = shape[q[1]] = q[4] + a / m * c.width; shape[q[2]] = q[5]; shape[q[3]] = q[5] + c.width;
			out.push({ type: 'line', silent: true, shape: shape, style: { stroke: T('@page'), lineWidth: 2 } });
		});
		if (room < 16) return;
		text(c.x - 8, c.y + mid, s.names[k], { align: 'right', verticalAlign: 'middle', width: c.x - 14, overflow: 'truncate' });
	});
	var n = s.shades, w = c.width * 0.6, x = c.x + (c.width - w) / 2, y = c.y + c.height + 14;
	for (k = 0; k < n; k++) out.push({ type: 'rect', silent: true, shape: { x: x + k * w / n, y: y, width: w / n + 0.5, height: 12 }, style: { fill: svm.heat((k + 0.5) / n) } });
	text(x - 8, y + 6, svm.num(s.low, 3), { align: 'right', verticalAlign: 'middle' });
	text(x + w + 8, y + 6, svm.num(s.high, 3), { align: 'left', verticalAlign: 'middle' });
	text(x + w / 2, y + 26, 'kernel value k', { align: 'center', verticalAlign: 'middle' });
	return { type: 'group', silent: true, children: out };
}

// row lies unseen over a row of the matrix, for the pointer.
function row(p, api) {
	var c = p.coordSys, h = c.height / O.svm.cells.length;
	return { type: 'rect', shape: { x: c.x, y: c.y + p.dataIndex * h, width: c.width, height: h }, style: { fill: T('@ink/0') }, emphasis: { style: { stroke: T('@ink'), lineWidth: 1 } } };
}

function tip(p) {
	var s = O.svm, i = p.dataIndex, e = document.createElement('span');
	if (p.seriesType === 'line') return 'eigenvalue ' + p.value[0] + '<br>' + svm.num(p.value[1]);
	e.textContent = s.classes[s.class[i]];
	return '<b>point ' + s.index[i] + '</b> · ' + e.innerHTML + '<br>mean k within its class ' + svm.num(s.within[i], 3) + '<br>with the others ' + svm.num(s.between[i], 3);
}

function layout(w, top) {
	var narrow = w < 640, left = narrow ? 84 : 110, right = narrow ? 16 : 26;
	var m = O.svm.cells.length, whole = function (side) { var fit = Math.floor(side / m) * m; return fit > 0.85 * side ? fit : Math.floor(side); }; // cells of equal whole pixels, where they fill the place
	if (narrow) {
		var s = whole(Math.min(w - left - right, 360));
		return { height: top + s + 76 + 180 + 52, option: { grid: [{ left: left, top: top, width: s, height: s }, { left: 60, right: right, top: top + s + 76, height: 180 }] } };
	}
	var side = whole(Math.min(420, (w - left - right - 90) * 0.56));
	return { height: top + side + 72, option: { grid: [{ left: left, top: top, width: side, height: side }, { left: left + side + 84, right: right, top: top, height: side }] } };
}

var rows = O.svm.cells.map(function (r, i) { return [0, i]; });
