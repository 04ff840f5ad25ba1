// The JavaScript of path.go.

function tip(p) {
	var e = document.createElement('b');
	e.textContent = 'point ' + O.svm.points[p.seriesIndex] + ', ' + p.seriesName;
	return e.outerHTML + (p.value ? '<br>αᵢ/C = ' + svm.num(p.value[1], 3) + ' at C = ' + svm.num(p.value[0]) : '');
}
