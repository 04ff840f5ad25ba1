// The JavaScript of rate.go.

function tip(ps) {
	$tables;
	return table(O.svm.unit + ' ' + svm.num(ps[0].value[0], 9), ps.map(function (p) { var name = document.createElement('i'); name.textContent = p.seriesName; return row(name.innerHTML, svm.num(p.value[1])); }).join(''));
}

function layout(w, top) {
	var narrow = w < 520, height = narrow ? 220 : 300;
	return { height: top + height + 52, option: { grid: [{ left: narrow ? 60 : 76, right: narrow ? 14 : 26, top: top, height: height }] } };
}
