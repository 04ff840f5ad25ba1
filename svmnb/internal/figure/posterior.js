// The JavaScript of posterior.go.

function tip(p) {
	$tables;
	var s = O.svm, v = p.value, i = p.dataIndex, range = function (a, b) { return svm.num(a[i]) + ' … ' + svm.num(b[i]); };
	if (p.seriesId === 'data' || p.seriesId === 'test') return table((p.seriesId === 'data' ? 'observation ' : 'test point ') + v[2], row('x', svm.num(v[0], 6)) + row(echarts.format.encodeHTML(s.target), svm.num(v[1], 6)));
	if (p.seriesId !== 'strips') return '';
	return table('x = ' + svm.num(s.x[i], 6), row(s.names[0], svm.num(s.mean[i], 5)) + (s.sd ? row('standard deviation', svm.num(s.sd[i])) : '') + row(s.names[1], range(s.lower, s.upper)) +
		(s.newlower ? row(s.names[2], range(s.newlower, s.newupper)) : '') + (s.error ? row('solver\'s error ≤', svm.num(s.error[i], 2)) : '') +
		(s['true'] ? row('true function', svm.num(s['true'][i])) : ''));
}
