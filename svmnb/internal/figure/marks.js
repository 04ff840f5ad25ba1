// What several figures share.

// ---- labels of axes

function number(v) { return svm.num(v); }

function digits(v) { return svm.num(v, $digits); }

function percent(v) { return svm.num(100 * v, 4); }

// size is of what grows upwards and downwards from 0.
function size(v) { return svm.num(Math.abs(v), 7); }

// iteration is at log₁₀(1 + iteration).
function iteration(v) { return svm.num(Math.round(Math.pow(10, v) - 1), 7); }

function power(v) { return svm.num(Math.pow(10, v), 3); }

// decade is a power of ten.
function decade(v) { return '10' + String(Math.round(Math.log(v) / Math.LN10)).replace(/./g, function (c) { return c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]; }); }

// ---- marks

// points join two columns of O.svm.
var points = O.svm.$x.map(function (x, i) { return [x, O.svm.$y[i]]; });

var column = O.svm.$column;

// start is where ECharts looks for a mark that finds its places itself.
var start = [[O.svm.$x[0], O.svm.$y[0]]];

var band = svm.band(O.svm.$x, O.svm.$lower, O.svm.$upper, '$color', $edge);

var areas = svm.areas(O.svm.$levels, O.svm.box);

var lines = svm.lines(O.svm.$paths, O.svm.box, $style);

var strips = O.svm.x.map(function (x) { return [x, $y]; });

// strip reaches half way to the places on both sides.
function strip(p, api) {
	var x = O.svm.x, i = p.dataIndex, c = p.coordSys, at = function (v) { return api.coord([v, api.value(1)])[0]; };
	var a = Math.max(at(i ? (x[i - 1] + x[i]) / 2 : x[i]), c.x), b = Math.min(at(i + 1 < x.length ? (x[i] + x[i + 1]) / 2 : x[i]), c.x + c.width);
	if (b <= a) return null;
	return { type: 'rect', shape: { x: a, y: c.y, width: b - a, height: c.height }, style: { fill: T('@ink/0') }, emphasis: { style: { fill: T('@ink/0.1') } } };
}

// tables stands at the beginning of a tip that is a table, as $tables.
function tables() {
	var row = function (name, v) { return '<tr><td style="padding-right:1em;text-align:left">' + name + '</td><td style="text-align:right">' + v + '</td></tr>'; };
	var table = function (head, rows) { return '<b>' + head + '</b><table style="font-size:inherit">' + rows + '</table>'; };
}

// ---- layouts

// oneGrid is the layout of a figure of one panel.
function oneGrid(w, top) {
	var narrow = w < 520, height = narrow ? 280 : 430;
	return { height: top + height + 52, option: { grid: { left: narrow ? 56 : 68, right: narrow ? $right : 26, top: top, height: height },
		series: (O.svm.sizes || []).map(function (s) { return { id: s[0], symbolSize: s[1] * (narrow ? 0.75 : 1) }; }) } };
}

function save() { svm.save(chart(), '$kind', '$name'); }
