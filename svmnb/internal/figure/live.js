// The JavaScript of live.go.

function tip(ps) {
	$tables;
	var s = O.svm, i = ps[0].dataIndex;
	if (ps[0].axisIndex > 1) return '';
	return table('iteration ' + s.its[i], row('primal, best so far', svm.num(s.primal[i], 6)) + row('dual', svm.num(s.dual[i], 6)) +
		row('gap', svm.num(s.gap[i])) + row('largest KKT violation', svm.num(s.kkt[i])));
}

// layout has the boundary beside the curves, on a narrow page below them.
function layout(w, top) {
	var aspect = O.svm.aspect, narrow = w < 520, beside = aspect && w >= 720, left = narrow ? 60 : 76, right = narrow ? 14 : 26;
	var a = narrow ? 150 : 190, width = (beside ? w * 0.55 : w) - left - right, y = top + 2 * a + 26 + 52;
	var grids = [{ left: left, right: 'auto', width: width, top: top, height: a }, { left: left, right: 'auto', width: width, top: top + a + 26, height: a }];
	if (aspect) {
		var x0 = beside ? left + width + right + 56 : narrow ? 48 : 60, pw = w - x0 - right, ph = pw * aspect, most = beside ? 2 * a + 26 : 420;
		if (ph > most) { ph = most; pw = ph / aspect; }
		grids.push({ left: x0, right: 'auto', width: pw, top: beside ? top : y, height: ph });
		if (!beside) y += ph + 52;
	}
	return { height: Math.round(y), option: { grid: grids } };
}
