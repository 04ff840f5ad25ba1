// The JavaScript of confusion.go.

function cell(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), n = api.value(2), share = api.value(3), gap = s[0] > 12 ? 1 : 0;
	var right = api.value(0) === api.value(1), colour = n ? (right ? '@neg*' : '@pos*') + (0.1 + 0.78 * share) : '@axis*0.14';
	var rect = { type: 'rect', shape: { x: c[0] - s[0] / 2 + gap, y: c[1] - s[1] / 2 + gap, width: s[0] - 2 * gap, height: s[1] - 2 * gap },
		style: { fill: T(colour) } };
	var font = Math.min(13, s[1] * 0.6, 1.6 * s[0] / String(n).length);
	if (!n || font < 7) return rect;
	return { type: 'group', children: [rect, { type: 'text', silent: true, x: c[0], y: c[1],
		style: { text: String(n), fill: svm.on(colour), fontSize: font, align: 'center', verticalAlign: 'middle' } }] };
}

function tip(p) {
	var v = p.value, e = document.createElement('b'), f = document.createElement('b');
	e.textContent = O.svm.names[v[1]];
	f.textContent = O.svm.names[v[0]];
	return e.outerHTML + (v[0] === v[1] ? ' recognised' : ' taken for ' + f.outerHTML) + '<br>' + v[2] + (v[2] === 1 ? ' point, ' : ' points, ') + svm.num(100 * v[3], 3) + ' % of its class';
}

// layout labels every class where a letter or three have room.
function layout(w, top) {
	var s = O.svm, longest = 0, narrow = w < 520;
	s.names.forEach(function (n) { longest = Math.max(longest, echarts.format.getTextRect(n, '12px $font').width); });
	var left = Math.min(narrow ? 140 : 260, Math.max(84, longest * 1.06 + 48)), n = s.classes;
	var width = Math.min(w - left - 14, Math.max(180, n * Math.min(160, Math.max(n > 5 ? 72 : 130, longest * 1.06 + 12)))), height = Math.min(width, Math.max(180, Math.min(620, n * (n > 5 ? 48 : 84))));
	var every = function (room) { return room < 16 ? 'auto' : 0; };
	return { height: Math.round(top + height + 62), option: { grid: { left: left, top: top, width: width, height: height },
		xAxis: [{ nameGap: 34, axisLabel: { width: Math.max(16, width / n - 4), interval: every(width / n) } }],
		yAxis: [{ nameGap: left - 18, axisLabel: { width: left - 42, interval: every(height / n) } }] } };
}
