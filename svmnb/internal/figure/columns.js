// What the figures of data share.

// bars are of one class in one panel: from, to, below, above, and the count.
function bar(p, api) {
	var a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(3)]), gap = b[0] - a[0] > 5 ? 1 : 0;
	return { type: 'rect', shape: { x: a[0] + gap / 2, y: b[1], width: Math.max(b[0] - a[0] - gap, 0.5), height: a[1] - b[1] }, style: { fill: T('$color') } };
}
