// The JavaScript of gain.go.

function tip(p) {
	var v = p.value;
	return v ? 'share of the points taken ' + svm.num(100 * v[0], 3) + ' %<br>' + O.svm.vertical + ' ' + (O.svm.vertical === 'lift' ? svm.num(v[1]) : svm.num(100 * v[1], 3) + ' %') : '';
}
