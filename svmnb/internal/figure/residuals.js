// The JavaScript of residuals.go.

function tip(p) {
	$tables;
	var v = p.value;
	if (!v || v.length < 3) return '';
	if (v.length < 6) return table(v[2] + ' points', row('mean prediction', svm.num(v[0])) + row('mean residual', svm.num(v[1])));
	return table('point ' + v[2], row(echarts.format.encodeHTML(O.svm.target), svm.num(v[3])) + row('prediction', svm.num(v[4])) + row('residual', svm.num(v[5])));
}
