// The JavaScript of regions.go.

function tip(p) {
	var v = p.value, a = document.createElement('i'), b = document.createElement('i');
	if (!v || v.length < 4) return '';
	a.textContent = p.seriesName;
	b.textContent = O.svm.names[v[3]];
	return '<b>point ' + v[2] + '</b> · ' + a.innerHTML + '<br>(' + svm.num(v[0], 15) + ', ' + svm.num(v[1], 15) + ')<br>predicted: ' + b.innerHTML;
}
