// The JavaScript of outputs.go.

function tip(p) {
	$tables;
	var s = O.svm, v = p.value, i = p.dataIndex, rows = '';
	if (p.seriesType === 'scatter') return table(echarts.format.encodeHTML(s.names[v[2]]), row('x', svm.num(v[0], 6)) + row('value', svm.num(v[1], 6)));
	if (p.seriesId !== 'strips') return '';
	s.names.forEach(function (name, o) {
		rows += row(echarts.format.encodeHTML(name), svm.num(s['mean' + o][i], 5) + ' (' + svm.num(s['lower' + o][i]) + ' … ' + svm.num(s['upper' + o][i]) + ')');
	});
	return table('x = ' + svm.num(s.x[i], 6), rows);
}
