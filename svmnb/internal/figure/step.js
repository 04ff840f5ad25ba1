// The JavaScript of step.go.

function box(p, api) {
	var u = O.svm.upper, a = api.coord([0, 0]), b = api.coord([u[0] === null ? O.svm.box.x[1] * 2 : u[0], u[1] === null ? O.svm.box.y[1] * 2 : u[1]]);
	return { type: 'rect', silent: true, shape: { x: a[0], y: b[1], width: b[0] - a[0], height: a[1] - b[1] }, style: { fill: T('@neg/0.1'), stroke: T('@neg'), lineWidth: 2 } };
}

// line is dashed where it leaves the box.
function line(p, api) {
	var s = O.svm, b = s.before, far = 3 * (s.box.x[1] - s.box.x[0]), u = [s.upper[0] === null ? Infinity : s.upper[0], s.upper[1] === null ? Infinity : s.upper[1]];
	var at = function (t) { return [b[0] + t, b[1] - s.s * t]; }, low = -b[0], high = u[0] - b[0];
	if (s.s > 0) { low = Math.max(low, b[1] - u[1]); high = Math.min(high, b[1]); } else { low = Math.max(low, -b[1]); high = Math.min(high, u[1] - b[1]); }
	var line = function (t, r, style) { return { type: 'polyline', silent: true, shape: { points: [api.coord(at(t)), api.coord(at(r))] }, style: Object.assign({ fill: 'none', stroke: T('@ink') }, style) }; };
	return { type: 'group', silent: true, children: [line(-far, far, { lineWidth: 1.2, lineDash: [5, 4] }), line(low, Math.min(high, far), { lineWidth: 3.2 })] };
}

function arrow(p, api) {
	var s = O.svm, out = [], arrow = function (from, to, style) {
		var a = api.coord(from), b = api.coord(to), dx = b[0] - a[0], dy = b[1] - a[1], l = Math.sqrt(dx * dx + dy * dy);
		if (l < 16) return;
		dx /= l; dy /= l; b = [b[0] - 8 * dx, b[1] - 8 * dy];
		var c = [b[0] - 9 * dx, b[1] - 9 * dy];
		out.push({ type: 'polyline', silent: true, shape: { points: [[a[0] + 8 * dx, a[1] + 8 * dy], c] }, style: Object.assign({ fill: 'none' }, style) },
			{ type: 'polygon', silent: true, shape: { points: [b, [c[0] - 5 * dy, c[1] + 5 * dx], [c[0] + 5 * dy, c[1] - 5 * dx]] }, style: { fill: style.stroke } });
	};
	if (s.free[0] !== null && Math.abs(s.free[0] - s.after[0]) > 1e-9 * Math.abs(s.free[0])) arrow(s.after, s.free, { stroke: T('@series4'), lineWidth: 1.8, lineDash: [4, 3] });
	arrow(s.before, s.after, { stroke: T('@strong'), lineWidth: 3 });
	return { type: 'group', silent: true, children: out };
}

// cases draws the four ways in which the line crosses the box, each with the
// bounds that this puts on the second variable, the one of this step as it is.
function cases(p, api) {
	var s = O.svm, c = p.coordSys, out = [], w = c.width / 2, h = (c.height - 54) / 2, size = Math.min(w - 40, h - 92);
	[[1, 0.6, 's = 1, δ ≤ C'], [1, 1.4, 's = 1, δ > C'], [-1, 0.35, 's = −1, δ ≥ 0'], [-1, -0.35, 's = −1, δ < 0']].forEach(function (k, i) {
		var mine = i === s.which, d = mine ? s.delta : k[1], color = T(mine ? '@strong' : '@soft'), x0 = c.x + (i % 2) * w + 22, y0 = c.y + Math.floor(i / 2) * h + 36 + size;
		var at = function (a, b) { return [x0 + a * size, y0 - b * size]; };
		var text = function (v, x, y, style) { out.push({ type: 'text', silent: true, x: x, y: y, style: Object.assign({ text: v, fill: T('@soft'), fontSize: 12, verticalAlign: 'middle' }, style) }); };
		var low = k[0] > 0 ? Math.max(0, d - 1) : Math.max(0, -d), high = k[0] > 0 ? Math.min(1, d) : Math.min(1, 1 - d), other = function (b) { return d - k[0] * b; };
		out.push({ type: 'rect', silent: true, shape: { x: x0, y: y0 - size, width: size, height: size }, style: { fill: T(mine ? '@strong/0.1' : '@neg/0.06'), stroke: color, lineWidth: mine ? 2 : 1.2 } });
		out.push({ type: 'polyline', silent: true, shape: { points: [at(other(low), low), at(other(high), high)] }, style: { fill: 'none', stroke: T('@ink'), lineWidth: mine ? 3 : 2 } });
		[[low, 'L'], [high, 'H']].forEach(function (e) {
			var v = at(other(e[0]), e[0]), near = function (a, b) { return Math.abs(a - b) < 1 ? 1 : 0; }; // letters stand outside the box
			out.push({ type: 'circle', silent: true, shape: { cx: v[0], cy: v[1], r: 3.5 }, style: { fill: color } });
			text(e[1], v[0] + 11 * (near(v[0], x0 + size) - near(v[0], x0)), v[1] + 11 * (near(v[1], y0) - near(v[1], y0 - size)), { align: 'center', fill: T('@ink'), fontWeight: 'bold' });
		});
		text(k[2], x0, y0 - size - 26, { fill: mine ? T('@strong') : T('@soft'), fontWeight: mine ? 'bold' : 'normal' });
		text(['L = 0, H = δ', 'L = δ − C, H = C', 'L = 0, H = C − δ', 'L = −δ, H = C'][i], x0, y0 + 26);
		if (mine) text('this step', x0, y0 + 43, { fill: T('@strong'), fontWeight: 'bold' });
	});
	out.push({ type: 'text', silent: true, x: c.x + 22, y: c.y + c.height - 50, style: { text: s.words, fill: T('@soft'), fontSize: 12, lineHeight: 17, width: c.width - 22, overflow: 'break' } });
	return { type: 'group', silent: true, children: out };
}

function tip(p) {
	var v = p.value, s = O.svm;
	return '<b>' + p.seriesName + '</b><br>' + s.names[0] + ' = ' + svm.num(v[0], 6) + '<br>' + s.names[1] + ' = ' + svm.num(v[1], 6);
}

// layout has the four cases beside the box, on a narrow page below it.
function layout(w, top) {
	var narrow = w < 520, beside = w >= 720, left = narrow ? 56 : 66, right = narrow ? 14 : 26, pw = Math.min((beside ? w * 0.55 : w) - left - right, 470), ph = pw * O.svm.aspect;
	if (ph > 520) { pw *= 520 / ph; ph = 520; }
	var h = Math.max(ph, 420), y = top + ph + 52, cw = Math.min(w - (beside ? left + pw + 2 * right + 30 : left) - right, 420);
	return { height: Math.round(beside ? top + h + 52 : y + cw + 124), option: { grid: [{ left: left, right: 'auto', top: top, width: pw, height: ph },
		beside ? { left: left + pw + right + 40, right: 'auto', top: top, width: cw, height: Math.min(h, cw + 106) } : { left: left - 30, right: 'auto', top: y, width: cw, height: cw + 106 }] } };
}

function ascentTip(p) { var v = p.value; return p.seriesName === 'path' ? (v[2] ? 'after step ' + v[2] : 'start') + ': (' + svm.num(v[0]) + ', ' + svm.num(v[1]) + ')' : 'top: (' + svm.num(v[0]) + ', ' + svm.num(v[1]) + ')'; }
