// The JavaScript of roc.go.

function tip(p) {
	var v = p.value;
	if (!v) return '';
	return (v[2] === null || v[2] === undefined ? 'nothing taken' : 'threshold ' + svm.num(v[2])) + '<br>true positive rate ' + svm.num(v[1]) + '<br>false positive rate ' + svm.num(v[0]);
}

// layout gives both axes the same length on a narrow page, and uses the width of a wide one.
function layout(w, top) {
	var narrow = w < 520, left = narrow ? 52 : 64, width = Math.min(w - left - 20, 900), height = Math.min(width, 440);
	return { height: Math.round(top + height + 52), option: { grid: { left: left, top: top, width: width, height: height } } };
}
