// The JavaScript of histograms.go.

// level is the bar of a class and a level, from left to right.
function level(p, api) {
	var a = api.coord([api.value(1), api.value(0)]), b = api.coord([api.value(2), api.value(0)]), h = Math.max(api.size([1, 1])[1] * 0.72, 1);
	return { type: 'rect', shape: { x: a[0], y: a[1] - h / 2, width: Math.max(b[0] - a[0] - 0.5, 0.5), height: h }, style: { fill: T('$color') } };
}

// head is the name of the column above its panel, and at the right what its bars tell.
function head(p) {
	var c = p.coordSys, s = O.svm, left = s.kinds[$panel] === 'category' ? 66 : 34, note = s.notes[$panel], narrow = chart().getWidth() < 520, below = chart().getWidth() < 760, y = c.y - 11, wide = function () { return note && !below ? 6 + note.length * 6.2 : 0; };
	if (c.width + left - wide() < 80) note = note.split(' · ')[0]; // the name needs the room
	var out = [{ type: 'text', silent: true, x: c.x - left, y: y - (below && s.notes.some(Boolean) ? 14 : 0), style: { text: s.heads[$panel].name, fill: T('@ink'), fontSize: narrow ? 12 : 13, fontWeight: 600, verticalAlign: 'bottom',
		width: c.width + left - wide(), overflow: 'truncate', ellipsis: '…' } }];
	if (note) out.push({ type: 'text', silent: true, x: below ? c.x - left : c.x + c.width, y: y, style: { text: note, fill: T('@soft'), fontSize: 11, align: below ? 'left' : 'right', verticalAlign: 'bottom' } });
	return { type: 'group', silent: true, children: out };
}

// short writes thousands as k and millions as M.
function short(v) { return v >= 1e6 ? svm.num(v / 1e6, 3) + 'M' : v >= 1e4 ? svm.num(v / 1e3, 3) + 'k' : svm.num(v, 7); }

function tip(p) {
	var s = O.svm, v = p.value, k = +/^bars(\d+)/.exec(p.seriesId)[1], name = document.createElement('b'), of = document.createElement('span'), at = document.createElement('i'), n = v[v.length - 1];
	var date = function (t) { return new Date(t).toISOString().slice(0, 16).replace('T00:00', '').replace('T', ' '); };
	name.textContent = s.heads[k].name;
	of.textContent = p.seriesName;
	if (s.kinds[k] === 'category') at.textContent = O.yAxis[k].data[v[0]];
	else at.textContent = s.kinds[k] === 'time' ? date(v[0]) + ' to ' + date(v[1]) : svm.num(v[0], 6) + ' to ' + svm.num(v[1], 6);
	return name.outerHTML + ' ' + at.outerHTML + '<br>' + of.innerHTML + ': ' + n + (n === 1 ? ' row' : ' rows');
}

function layout(w, top) {
	var s = O.svm, n = s.kinds.length, narrow = w < 520, across = narrow ? 2 : w < 760 ? 3 : n > 4 && n < 7 ? 3 : Math.min(4, Math.max(2, n)), rows = Math.ceil(s.kinds.length / across), gap = narrow ? 12 : 18;
	var cell = (w - 16 - gap * (across - 1)) / across, height = narrow ? 96 : 120, head = w < 760 && s.notes.some(Boolean) ? 14 : 0, grids = [];
	s.kinds.forEach(function (kind, k) {
		var left = kind === 'category' ? 66 : 34;
		grids.push({ left: 8 + (k % across) * (cell + gap) + left, top: top + 24 + head + Math.floor(k / across) * (height + 60 + head), width: cell - left - 6, height: height });
	});
	return { height: Math.round(top + 18 + rows * (height + 60 + head)), option: { grid: grids, yAxis: s.kinds.map(function (kind) { return kind === 'category' ? { axisLabel: { width: 58 } } : {}; }) } };
}
