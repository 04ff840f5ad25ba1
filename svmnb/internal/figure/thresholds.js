// The JavaScript of thresholds.go.

function tip(ps) {
	var rows = ps.filter(function (p) { return p.value[1] !== null; }).map(function (p) {
		var e = document.createElement('span');
		e.textContent = p.seriesName + ' ' + svm.num(p.value[1]);
		return '<br>' + e.outerHTML;
	});
	return '<b>threshold ' + svm.num(ps[0].value[0]) + '</b>' + rows.join('');
}
