// The JavaScript of gaps.go.

function tip(p) {
	var v = p.value, e = document.createElement('b');
	if (!v) return '';
	e.textContent = O.svm.names[v[1]];
	return e.outerHTML + '<br>gap ' + svm.num(100 * v[0], 3) + ' %<br>' + v[2] + ' of ' + O.svm.points + ' labels not proven';
}

// tipTexts is tip for machines that have texts.
function tipTexts(p) {
	var v = p.value, e = document.createElement('b'), t = document.createElement('span');
	if (!v) return '';
	e.textContent = O.svm.names[v[1]];
	t.textContent = O.svm.texts[v[1]];
	return e.outerHTML + '<br>gap ' + svm.num(100 * v[0], 3) + ' %<br>' + t.innerHTML;
}

// layout gives each machine a row, and room for its name.
function layout(w, top) {
	var s = O.svm, longest = 0;
	s.names.forEach(function (n) { longest = Math.max(longest, echarts.format.getTextRect(n, '12px $font').width); });
	var left = Math.min(w < 520 ? 150 : 300, Math.max(50, longest * 1.06 + 20)), height = 36 * Math.max(3, s.names.length);
	return { height: Math.round(top + height + 60), option: { grid: { left: left, top: top, width: w - left - 28, height: height }, yAxis: [{ axisLabel: { width: left - 14 } }] } };
}
