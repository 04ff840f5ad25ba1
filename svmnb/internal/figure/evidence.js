// The JavaScript of evidence.go.

function cell(p, api) {
	var c = p.coordSys, d = O.svm.cell, a = api.coord([api.value(0) - d[0] / 2, api.value(1) + d[1] / 2]), b = api.coord([api.value(0) + d[0] / 2, api.value(1) - d[1] / 2]);
	var x = Math.max(a[0], c.x), y = Math.max(a[1], c.y);
	return { type: 'rect', shape: { x: x, y: y, width: Math.min(b[0], c.x + c.width) - x, height: Math.min(b[1], c.y + c.height) - y },
		style: { fill: T('@ink/0') }, emphasis: { style: { fill: T('@ink/0.12') } } };
}

// labels writes each level on each of its lines that is long enough, where it is farthest
// from other labels, the paths and the frame.
function labels(params, api) {
	var s = O.svm, c = params.coordSys, b = s.box, kx = (b.x[1] - b.x[0]) / b.n, ky = (b.y[1] - b.y[0]) / b.n, out = [];
	var taken = s.places ? s.places.map(function (v) { return api.coord(v); }) : [];
	s.lines.forEach(function (line) {
		line.paths.forEach(function (p) {
			var best = 0, at = null, length = 0, before = null;
			for (var i = 0, x = 0, y = 0; i < p.length; i += 2) {
				var q = api.coord([b.x[0] + (x += p[i]) * kx, b.y[0] + (y += p[i + 1]) * ky]);
				var free = Math.min(q[0] - c.x, c.x + c.width - q[0], 1.4 * (q[1] - c.y), 1.4 * (c.y + c.height - q[1]), 90);
				taken.forEach(function (t) { free = Math.min(free, Math.hypot(t[0] - q[0], 1.6 * (t[1] - q[1]))); });
				if (free > best) { best = free; at = q; }
				if (before) length += Math.hypot(q[0] - before[0], q[1] - before[1]);
				before = q;
			}
			if (best < 20 || length < 80) return;
			taken.push(at);
			out.push({ type: 'text', silent: true, x: at[0], y: at[1], style: { text: line.text, fill: T('@ink'), fontSize: 12, align: 'center', verticalAlign: 'middle', stroke: T('@page'), lineWidth: 3 } });
		});
	});
	return { type: 'group', silent: true, $mergeChildren: false, children: out };
}

function tip(p) {
	$tables;
	var s = O.svm, v = p.value, cell = p.seriesId === 'cells', x = cell ? Math.pow(10, v[0]) : v[4], y = cell ? Math.pow(10, v[1]) : v[5], z = cell ? v[2] : v[6];
	return table(cell ? 'grid' : 'path ' + v[2] + ', step ' + v[3], row(echarts.format.encodeHTML(s.names[0]), svm.num(x)) + row(echarts.format.encodeHTML(s.names[1]), svm.num(y)) +
		row('log marginal likelihood', svm.num(z, 6)) + row('below the maximum', svm.num(Math.max(s.best - z, 0), 3)));
}

// layout gives the log axes ticks that fit: 1, 2, 5 of each decade,
// whole decades, or even steps where there is less than a decade.
function layout(w, top) {
	var narrow = w < 520, left = narrow ? 60 : 72, right = 26, pw = w - left - right, ph = narrow ? pw : Math.min(0.55 * pw, 520);
	// room is what the labels 1, 2 and 5 of a decade need so that they stay apart.
	var ticks = function (ends, px, room) {
		var a = ends[0], b = ends[1], per = px / (b - a), labels = [], marks = [], every = Math.max(1, Math.ceil(room / per));
		var put = function (to, v) { var p = Math.log(v) / Math.LN10; if (p >= a - 1e-9 && p <= b + 1e-9) to.push(Math.min(Math.max(p, a), b)); };
		for (var e = Math.floor(a); e <= b; e++) {
			if (e % every === 0) (0.3 * per > room ? [1, 2, 5] : [1]).forEach(function (m) { put(labels, m * Math.pow(10, e)); });
			for (var m = 1; m < 10; m++) if (m === 1 || per > 50) put(marks, m * Math.pow(10, e));
		}
		if (labels.length < 2) {
			var lo = Math.pow(10, a), hi = Math.pow(10, b), step = Math.pow(10, Math.floor(Math.log((hi - lo) / 2) / Math.LN10));
			if ((hi - lo) / step > 8) step *= 2;
			labels = [];
			for (var v = Math.ceil(lo / step) * step; v <= hi; v += step) put(labels, v);
			marks = labels;
		}
		return { axisLabel: { customValues: labels }, axisTick: { customValues: marks } };
	};
	var widest = Math.max.apply(null, O.svm.box.x.map(function (v) { return 7 * svm.num(Math.pow(10, v), 1).length; }));
	return { height: Math.round(top + ph + 52), option: { grid: { left: left, top: top, width: pw, height: ph },
		xAxis: [ticks(O.svm.box.x, pw, 16 + widest)], yAxis: [ticks(O.svm.box.y, ph, 33)] } };
}

var lines = svm.lines([].concat.apply([], O.svm.lines.map(function (l) { return l.paths; })), O.svm.box, {stroke: '@ink/0.5', lineWidth: 1});
