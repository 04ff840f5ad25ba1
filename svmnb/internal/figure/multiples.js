// The JavaScript of multiples.go.

// note writes what came out above a panel, in the lines that layout has made of it.
function note(p) {
	var c = p.coordSys, small = c.width < 150;
	return { type: 'text', silent: true, x: c.x, y: c.y - 5, style: { text: (O.svm.lines || O.svm.notes)[$panel], fill: T('@soft'), fontSize: small ? 10 : 12, lineHeight: small ? 12 : 14,
		verticalAlign: 'bottom', width: c.width + 4, overflow: 'break' } };
}

function layout(w, top) {
	var s = O.svm, narrow = w < 520, right = narrow ? 8 : 16, across = narrow ? 8 : 14;
	var wide = function (text, size) { return echarts.format.getTextRect(text, size + 'px sans-serif').width / 0.97; }; // fonts differ a little
	// The names of y axes have the size and the lines that they need beside rows of this height.
	var names = function (axes, room) {
		return axes.map(function (a) { return { nameTextStyle: { fontSize: narrow ? 11 : 13, lineHeight: 14 }, name: wide(String(a.name || ''), narrow ? 11 : 13) > room ? a.name.replace(' = ', '\n= ') : a.name }; });
	};
	var second = function (axes) { return axes.some(function (a) { return /\n/.test(a.name); }) ? 16 : 0; };
	// What came out is in several lines where a panel is narrow: it breaks at commas first.
	var broken = function (note, width, size) {
		if (wide(note, size) <= width) return note;
		return note.split(', ').join(',\n').split('\n').map(function (part) {
			return part.split(' ').reduce(function (lines, word) {
				var k = lines.length - 1;
				if (k >= 0 && wide(lines[k] + ' ' + word, size) <= width) lines[k] += ' ' + word; else lines.push(word);
				return lines;
			}, []).join('\n');
		}).join('\n');
	};
	var place = function (left) {
		var pw = (w - left - right - across * (s.columns - 1)) / s.columns, small = pw < 150;
		var lines = s.notes.map(function (note) { return broken(note, pw, small ? 10 : 12); });
		var head = (small ? 12 : 14) * (Math.max.apply(null, lines.map(function (l) { return l.split('\n').length; })) - 1); // beyond the first line
		return { left: left, pw: pw, ph: Math.max(60, Math.min(pw * s.aspect, narrow ? 180 : 260)), lines: lines, head: head, down: 24 + head };
	};
	var at = place(narrow ? 54 : 66), up = names(O.yAxis, at.ph + at.down);
	if (second(up)) {
		var numbers = 0;
		O.yAxis.forEach(function (a, k) {
			if (a.name) chart().getModel().getComponent('yAxis', k).axis.getViewLabels().forEach(function (l) { numbers = Math.max(numbers, wide(l.formattedLabel, 12)); });
		});
		if (narrow) up.forEach(function (a) { a.nameGap = Math.ceil(numbers) + 13; });
		at = place(narrow ? Math.max(70, Math.ceil(numbers) + 13 + 30) : 82);
	}
	var along = names(O.xAxis, at.pw + across);
	s.lines = at.lines;
	var grids = O.grid.map(function (g, k) {
		var r = Math.floor(k / s.columns), c = k % s.columns;
		return { left: at.left + c * (at.pw + across), top: top + 16 + at.head + r * (at.ph + at.down), width: at.pw, height: at.ph };
	});
	return { height: Math.round(top + 16 + at.head + s.rows * (at.ph + at.down) + 34 - at.head) + second(along), option: { grid: grids, xAxis: along, yAxis: up } };
}

function tip(p) {
	if (!p.value || p.value.length < 3) return '';
	var name = document.createElement('i');
	name.textContent = p.seriesName;
	return '<b>point ' + p.value[2] + '</b> · ' + name.innerHTML + '<br>(' + svm.num(p.value[0], 15) + ', ' + svm.num(p.value[1], 15) + ')';
}
