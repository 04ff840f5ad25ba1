// The JavaScript of curves.go.

function tip(p) {
	var e = document.createElement('b'), at = document.createElement('span');
	e.textContent = O.svm.metric + ' ' + svm.num(p.value[1]) + O.svm.unit;
	at.textContent = O.svm.name + ' = ' + svm.num(p.value[0]);
	return e.outerHTML + '<br>' + at.outerHTML;
}
