// The JavaScript of validation.go.

function tip(p) {
	var e = document.createElement('b'), at = document.createElement('span');
	e.textContent = p.seriesName + ': ' + O.svm.metric + ' ' + svm.num(p.value[1]) + O.svm.unit;
	at.textContent = O.svm.name + ' = ' + svm.num(p.value[0]);
	return e.outerHTML + '<br>' + at.outerHTML;
}

// two is a power of two.
function two(v) { return '2' + String(Math.round(Math.log(v) / Math.LN2)).replace(/./g, function (c) { return c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]; }); }
