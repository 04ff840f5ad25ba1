// The JavaScript of gap.go.

function tip(ps) {
	var s = O.svm, p = ps.filter(function (p) { return p.seriesName.indexOf('series') !== 0; })[0];
	if (!p) return '';
	var i = p.dataIndex, row = function (name, v) { return v === null || v === undefined ? '' : '<tr><td style="padding-right:1em;text-align:left">' + name + '</td><td style="text-align:right">' + svm.num(v, 6) + '</td></tr>'; };
	return '<b>iteration ' + s.its[i] + '</b><table style="font-size:inherit">' + row('primal', s.primal[i]) + row('best primal', s.best[i]) + row('dual', s.dual[i]) +
		row('gap', s.gap[i]) + row('gap to the best', s.bestgap[i]) + '</table>';
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 60 : 76, right = narrow ? 14 : 26, a = narrow ? 190 : 250, b = narrow ? 150 : 190;
	return { height: top + a + b + 26 + 52, option: { grid: [
		{ left: left, right: right, top: top, height: a }, { left: left, right: right, top: top + a + 26, height: b }] } };
}

var between = svm.band(O.svm.bx, O.svm.bl, O.svm.bu, '@series4/0.14');
