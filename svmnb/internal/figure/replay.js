// The JavaScript of replay.go.

// now returns the frame of the slider, decoded: a has α over its bound or over
// the largest, m the margins, c the curve.
function now() {
	var s = O.svm, k = chart().getModel().getComponent('timeline').get('currentIndex'), f = s.frames[Math.min(Math.max(k || 0, 0), s.frames.length - 1)];
	if (!s.value) {
		s.value = {};
		for (var c = 0; c < 64; c++) s.value[s.digits[c]] = c;
	}
	var numbers = function (t, of) { var v = []; for (var i = 0; i < t.length; i += 2) v.push(of(64 * s.value[t[i]] + s.value[t[i + 1]])); return v; };
	if (!f.alpha) {
		f.alpha = numbers(f.a, function (c) { return (c - $zero) / $zero; });
		f.margin = numbers(f.m, function (c) { return s.low + c / $most * (s.high - s.low); });
		if (f.c) f.curve = numbers(f.c, function (c) { return s.box.y[0] + c / $most * (s.box.y[1] - s.box.y[0]); });
	}
	return f;
}

// paths turns digits into a path: closed rings, or their parts that are not on
// the border.
function paths(text, api, closed) {
	var s = O.svm, n = $fineness, out = '', kx = (s.box.x[1] - s.box.x[0]) / n, ky = (s.box.y[1] - s.box.y[0]) / n;
	text.split(' ').forEach(function (p) {
		if (!p) return;
		var at = function (i) { return [64 * s.value[p[i]] + s.value[p[i + 1]], 64 * s.value[p[i + 2]] + s.value[p[i + 3]]]; };
		var write = function (c, v) { v = api.coord([s.box.x[0] + v[0] * kx, s.box.y[0] + v[1] * ky]); return c + v[0].toFixed(1) + ' ' + v[1].toFixed(1); };
		if (closed) {
			for (var i = 0; i < p.length; i += 4) out += write(i ? 'L' : 'M', at(i));
			out += 'Z';
			return;
		}
		var last = at(p.length - 4), drawn = false;
		for (var j = 0; j < p.length; j += 4) {
			var v = at(j), border = (v[0] === last[0] && (v[0] === 0 || v[0] === n)) || (v[1] === last[1] && (v[1] === 0 || v[1] === n));
			if (!border) out += (drawn ? '' : write('M', last)) + write('L', v);
			drawn = !border;
			last = v;
		}
	});
	return out;
}

function field(p, api) {
	var s = O.svm, f = s.now(), c = p.coordSys;
	return { type: 'group', silent: true, children: [{ type: 'rect', silent: true, shape: { x: c.x, y: c.y, width: c.width, height: c.height }, style: { fill: T(s.colors[0]) } }].concat(f.b.map(function (b, k) {
		return { type: 'path', silent: true, shape: { pathData: s.paths(b, api, true) }, style: { fill: T(s.colors[k + 1]) } };
	})) };
}

// open is the area where the label could still change.
function open(p, api) {
	var s = O.svm;
	return { type: 'path', silent: true, shape: { pathData: s.paths(s.now().u, api, true) }, style: { fill: T('$color') } };
}

// line draws the level with this index and the one that lies opposite.
function line(p, api) {
	var f = O.svm.now(), k = $level;
	return { type: 'path', silent: true, shape: { pathData: O.svm.paths(f.b[k], api) + (k === $middle ? '' : O.svm.paths(f.b[$last - k], api)) },
		style: Object.assign({ fill: 'none', stroke: T('@ink'), lineJoin: 'round' }, $style) };
}

function tube(p, api) {
	var s = O.svm, f = s.now(), n = f.curve.length - 1, up = [], down = [], mid = [];
	f.curve.forEach(function (v, i) {
		var x = s.box.x[0] + i / n * (s.box.x[1] - s.box.x[0]);
		up.push(api.coord([x, v + f.e])); mid.push(api.coord([x, v])); down.push(api.coord([x, v - f.e]));
	});
	var line = function (points, style) { return { type: 'polyline', silent: true, shape: { points: points }, style: Object.assign({ fill: 'none', stroke: T('@series1') }, style) }; };
	return { type: 'group', silent: true, children: [{ type: 'polygon', silent: true, shape: { points: up.concat(down.slice().reverse()) }, style: { fill: T('@series1/0.14') } },
		line(up, { lineWidth: 1.3, lineDash: [6, 4] }), line(down, { lineWidth: 1.3, lineDash: [6, 4] }), line(mid, { lineWidth: 2.6 })] };
}

// rings draws rings, or crosses, around the points that are chosen by their α
// and margin, or around those worked on last, in the panel of the features or, at
// work, in the other.
function rings(api, chosen, r, style, cross, steps) {
	var s = O.svm, f = s.now(), out = [], data = s.where = s.where || O.series.filter(function (o) { return o.type === 'scatter'; }).reduce(function (w, o) {
		o.data.forEach(function (v) { w[v[2]] = v; });
		return w;
	}, {});
	var at = chosen ? Object.keys(data) : f.w.map(function (w) { return w[1]; }).filter(function (k) { return k >= 0; });
	style = Object.assign({ fill: 'none' }, style);
	at.forEach(function (k) {
		if (chosen && !chosen(f.alpha[k], f.margin[k])) return;
		var c = api.coord(steps ? [f.margin[k], f.alpha[k] * s.top] : data[k]);
		out.push(cross ? { type: 'path', silent: true, shape: { pathData: 'M' + (c[0] - r) + ' ' + (c[1] - r) + 'L' + (c[0] + r) + ' ' + (c[1] + r) + 'M' + (c[0] - r) + ' ' + (c[1] + r) + 'L' + (c[0] + r) + ' ' + (c[1] - r) }, style: style } :
			{ type: 'circle', silent: true, shape: { cx: c[0], cy: c[1], r: r }, style: style });
	});
	return { type: 'group', silent: true, children: out };
}

// dot draws a point at its margin and α.
function dot(p, api) {
	var s = O.svm, f = s.now(), k = api.value(2), c = api.coord([f.margin[k], f.alpha[k] * s.top]), r = 4, style = { fill: T('$color'), stroke: T('@page'), lineWidth: 0.8, opacity: 0.85 };
	if ('$symbol' === 'circle') return { type: 'circle', shape: { cx: c[0], cy: c[1], r: r }, style: style };
	r = 5;
	return { type: 'polygon', shape: { points: [[c[0], c[1] - r], [c[0] + r, c[1]], [c[0], c[1] + r], [c[0] - r, c[1]]] }, style: style };
}

// steps is where a point is when its conditions hold.
function steps(p, api) {
	var s = O.svm, e = s.now().e, top = s.top, g = s.ridge * top, far = 10 * (s.high - s.low), way;
	if (s.regression) way = (s.bounded ? [[-far, -top], [-e - g, -top]] : [[-e - g, -top]]).concat([[-e, 0], [e, 0]], s.bounded ? [[e + g, top], [far, top]] : [[e + g, top]]);
	else way = (s.bounded ? [[-far, top], [s.edge - g, top]] : [[s.edge - g, top]]).concat([[s.edge, 0], [far, 0]]);
	return { type: 'polyline', silent: true, shape: { points: way.map(function (v) { return api.coord(v); }) }, style: { fill: 'none', stroke: T('@ink'), lineWidth: 1.6, lineDash: [2, 3] } };
}

// numbers writes what is known of the frame above the panels.
function numbers(p, api) {
	var s = O.svm, f = s.now(), digits = 12, say = [], add = function (name, v, n) { if (v !== null) say.push(name + ' ' + svm.num(v, n)); };
	add('dual', f.d, digits); add('primal', f.p, digits); add('gap', f.g, 3); add('KKT violation', f.k, 2);
	if (f.n === 2) say.push('pair ' + f.w[0][0] + ', ' + f.w[1][0]);
	else if (f.n === 1) say.push('point ' + f.w[0][0]);
	else if (f.n > 2) say.push('working set of ' + f.n);
	return { type: 'text', silent: true, x: 4, y: api.value(1), style: { text: '{b|iteration ' + f.i + '}   ' + say.join('   '), width: chart().getWidth() - 10, overflow: 'break', lineHeight: 19, fontSize: 13, fill: T('@ink'),
		rich: { b: { fontWeight: 'bold', fontSize: 13, fill: T('@ink') } }, verticalAlign: 'top' } };
}

function tip(p) {
	$tables;
	var s = O.svm, f = s.now(), k = p.value && p.value[2], name = document.createElement('i');
	if (k === undefined) return '';
	name.textContent = p.seriesName;
	var a = f.alpha[k] * s.top, m = f.margin[k], cut = m <= s.low ? '≤ ' : m >= s.high ? '≥ ' : '';
	return table('point ' + s.points[k] + '</b> · ' + name.innerHTML + '<b> · iteration ' + f.i, row(s.regression ? 'β' : 'α', svm.num(a, 3) + (s.share ? ' of its bound' : '')) +
		row(s.regression ? 'residual' : 'y·f', cut + svm.num(m, 3)));
}

// layout has α beside the features, on a narrow page below them.
function layout(w, top) {
	var s = O.svm, narrow = w < 520, beside = s.scene && w >= 720, left = narrow ? 52 : 62, right = narrow ? 14 : 24, grids = [], y;
	var line = top - 4;
	top += narrow ? 66 : w < 900 ? 44 : 26;
	var pw = (beside ? w * 0.58 : w) - left - right, most = narrow ? 380 : 460, h = most;
	if (s.scene) {
		if (s.aspect) { h = pw * s.aspect; if (h > most) { h = most; pw = h / s.aspect; } }
		else h = narrow ? 250 : 360;
		grids.push({ left: left, right: 'auto', top: top, width: pw, height: h });
	} else h = 0;
	y = top + h;
	if (beside) grids.push({ left: left + pw + right + 58, right: 'auto', top: top, width: w - left - pw - 2 * right - 58, height: h });
	else {
		if (s.scene) y += 56;
		grids.push({ left: left, right: 'auto', top: y, width: w - left - right, height: narrow ? 200 : 300 });
		y += narrow ? 200 : 300;
	}
	return { height: Math.round(y + 106), option: { grid: grids, series: [{ id: 'numbers', data: [[0, line]] }] } };
}

function free(p, api) { return O.svm.rings(api, function (a, m) { return a !== 0 && Math.abs(a) < 1; }, $radius, {stroke: T('@ink'), lineWidth: 2.2}); }

function bound(p, api) { return O.svm.rings(api, function (a, m) { return Math.abs(a) === 1; }, $radius, {stroke: T('@ink/0.45'), lineWidth: 2.2}); }

function wrong(p, api) { return O.svm.rings(api, function (a, m) { return m < -1e-9 * (O.svm.high - O.svm.low); }, $radius, {stroke: T('@bad'), lineWidth: 2.4}, true); }

function working(p, api) { return O.svm.rings(api, null, $radius, {stroke: T('@series4'), lineWidth: 3}); }

function atWork(p, api) { return O.svm.rings(api, null, 8, {stroke: T('@series4'), lineWidth: 3}, false, true); }

function moment(p) { return 'iteration ' + p.name; }
