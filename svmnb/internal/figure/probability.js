// The JavaScript of probability.go.

function tip(p) {
	var v = p.value, a = document.createElement('i'), b = document.createElement('i'), s;
	if (!v || v.length < 5) return '';
	a.textContent = p.seriesName;
	s = '<b>point ' + v[2] + '</b> · ' + a.innerHTML + '<br>(' + svm.num(v[0], 15) + ', ' + svm.num(v[1], 15) + ')';
	O.svm.names.forEach(function (name, c) {
		b.textContent = name;
		s += '<br>p(' + b.innerHTML + ') = ' + svm.num(v[4 + c]);
	});
	return s;
}
