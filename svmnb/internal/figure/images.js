// The JavaScript of images.go.

// image is one image with its caption. Its file is the head, a palette with the colours of
// the page, and the pixels.
function image(p, api) {
	var s = O.svm, i = api.value(2), c = p.coordSys, g = ($layout)(c.width + 12, 0).svm, k, bytes = [], x = c.x + i % g.across * g.pitch, y = c.y + Math.floor(i / g.across) * g.drop;
	if (!s.palette || s.palette[0] !== T('@page')) {
		var type = [80, 76, 84, 69], crc = -1;
		for (k = 0; k < s.shades; k++) {
			var share = k / (s.shades - 1), color = T(!s.signed ? '@ink*' + share : share < 0.5 ? '@neg*' + (1 - 2 * share) : '@pos*' + (2 * share - 1));
			bytes = bytes.concat(color.match(/\d+/g).slice(0, 3).map(Number));
		}
		bytes = [0, 0, Math.floor(bytes.length / 256), bytes.length % 256].concat(type, bytes);
		bytes.slice(4).forEach(function (b) {
			crc ^= b;
			for (k = 0; k < 8; k++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
		});
		crc = ~crc;
		bytes = bytes.concat([crc >>> 24 & 255, crc >>> 16 & 255, crc >>> 8 & 255, crc & 255]);
		var digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', text = '';
		for (k = 0; k < bytes.length; k += 3) [18, 12, 6, 0].forEach(function (by) { text += digits[(bytes[k] << 16 | bytes[k + 1] << 8 | bytes[k + 2]) >> by & 63]; });
		s.palette = [T('@page'), text];
	}
	var out = [{ type: 'image', x: x, y: y, style: { image: 'data:image/png;base64,' + s.head + s.palette[1] + s.files[i], x: 0, y: 0, width: g.width, height: g.height } },
		{ type: 'rect', silent: true, shape: { x: x - 0.5, y: y - 0.5, width: g.width + 1, height: g.height + 1 }, style: { fill: 'none', stroke: T('@grid'), lineWidth: 1 } }];
	if (s.names) out.push({ type: 'text', silent: true, x: x + g.width / 2, y: y + g.height + 4, style: { text: s.names[i], fill: T('@ink'), fontSize: 11, align: 'center', verticalAlign: 'top',
		width: g.pitch - 4, overflow: 'truncate', ellipsis: '…' } });
	return { type: 'group', children: out };
}

function tip(p) {
	var s = O.svm, i = p.value[2], name = document.createElement('b');
	if (!s.names) return 'point ' + s.index[i];
	name.textContent = s.names[i];
	return name.outerHTML + '<br>point ' + s.index[i];
}

// layout says besides where the images are, in svm.
function layout(w, top) {
	var s = O.svm, n = s.files.length, longest = s.names ? Math.max.apply(null, s.names.map(function (t) { return t.length; })) : 0;
	var least = Math.max(w < 520 ? 44 : 64, Math.min(6.4 * longest, w < 520 ? 84 : 104)) + 10, across = Math.max(1, Math.min(n, Math.floor((w - 12) / least)));
	var pitch = Math.min((w - 12) / across, 150), side = Math.min(pitch - 10, 120), most = Math.max(s.rows, s.cols), width = side * s.cols / most, height = side * s.rows / most;
	var drop = height + (s.names ? 26 : 10), rows = Math.ceil(n / across);
	return { height: Math.round(top + rows * drop + 12), option: { grid: { left: 6, right: 6, top: top + 2, height: rows * drop } }, svm: { across: across, pitch: pitch, drop: drop, width: width, height: height } };
}
