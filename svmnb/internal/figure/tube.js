// The JavaScript of tube.go.

function tip(p) {
	$tables;
	var s = O.svm, v = p.value, i = p.dataIndex, name = document.createElement('i');
	if (p.seriesId === 'strips') return table('x = ' + svm.num(s.x[i], 6), row('f(x)', svm.num(s.f[i], 5)) + row('tube', svm.num(s.lower[i]) + ' … ' + svm.num(s.upper[i])) +
		(s['true'] ? row('true function', svm.num(s['true'][i])) : ''));
	if (v.length < 6) return '';
	name.textContent = p.seriesName;
	return table('point ' + v[2] + '</b> · ' + name.innerHTML + '<b>', (s.one ? row('x', svm.num(v[0], 6)) : '') + row(echarts.format.encodeHTML(s.target), svm.num(v[3])) + row('f', svm.num(v[4])) +
		row('residual', svm.num(v[6])) + row('slack ξ', svm.num(v[7])) + row('β', svm.num(v[5])));
}

// square has equal scales on both axes.
function square(w, top) {
	var narrow = w < 520, left = narrow ? 56 : 68, side = Math.min(w - left - (narrow ? 14 : 26), 520);
	return { height: top + side + 52, option: { grid: { left: left, top: top, width: side, height: side },
		series: O.svm.sizes.map(function (s) { return { id: s[0], symbolSize: s[1] * (narrow ? 0.75 : 1) }; }) } };
}
