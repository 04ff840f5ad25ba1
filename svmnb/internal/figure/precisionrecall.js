// The JavaScript of precisionrecall.go.

function tip(p) {
	var v = p.value;
	if (!v) return '';
	return (v[2] === null || v[2] === undefined ? 'nothing taken' : 'threshold ' + svm.num(v[2])) + '<br>precision ' + svm.num(v[1]) + '<br>recall ' + svm.num(v[0]);
}
