// The JavaScript of lines.go.

function tip(ps) {
	$tables;
	var x = ps[0].axisValue, near = ps.filter(function (p) { return p.value[1] !== null; });
	return table(echarts.format.encodeHTML(O.svm.x) + ' ' + svm.num(x), near.map(function (p) {
		return row('<span style="color:' + p.color + '">■</span> ' + echarts.format.encodeHTML(p.seriesName), svm.num(p.value[1], 6));
	}).join(''));
}
