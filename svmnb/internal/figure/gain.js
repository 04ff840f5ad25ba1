// The JavaScript of gain.go.

function tip(p) {
	var v = p.value;
	return v ? 'share of the points taken ' + svm.num(v[0]) + '<br>' + O.svm.vertical + ' ' + svm.num(v[1]) : '';
}
