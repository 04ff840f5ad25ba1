package figure

import "fmt"

// ConfusionData is what [Confusion] draws: how many points of which class were
// taken for which.
type ConfusionData struct {
	Problem string // what was solved and what was predicted
	Classes []string
	Counts  [][]int // k × k, Counts[truth][predicted]
}

// mostClasses is how many classes a square can show.
const mostClasses = 60

// Confusion draws the counts as a square: a row for each true class, coloured by
// the share of the row, with the right ones on the diagonal.
func Confusion(d ConfusionData) (*Chart, error) {
	bad := func(field, format string, args ...any) error {
		return &InputError{Figure: "Confusion", Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	k := len(d.Classes)
	if k < 1 || k > mostClasses {
		return nil, bad("Classes", "has %d names: the square has room for 1 to %d", k, mostClasses)
	}
	if len(d.Counts) != k {
		return nil, bad("Counts", "has %d rows for %d classes", len(d.Counts), k)
	}
	all, right, worst := 0, 0, [2]int{-1, -1}
	var cells list
	for i, row := range d.Counts {
		if len(row) != k {
			return nil, bad(fmt.Sprintf("Counts[%d]", i), "has length %d for %d classes", len(row), k)
		}
		sum := 0
		for j, c := range row {
			if c < 0 {
				return nil, bad(fmt.Sprintf("Counts[%d][%d]", i, j), "is %d: a count is not negative", c)
			}
			sum += c
			if i == j {
				right += c
			} else if c > 0 && (worst[0] < 0 || c > d.Counts[worst[0]][worst[1]]) {
				worst = [2]int{i, j}
			}
		}
		all += sum
		for j, c := range row {
			cells = append(cells, list{j, i, c, round4(float64(c) / float64(max(sum, 1)))})
		}
	}
	if all == 0 {
		return nil, bad("Counts", "counts no point: give at least one")
	}
	title := fmt.Sprintf("%s of %s right", thousands(int64(right)), count(all, "point", "points"))
	if worst[0] >= 0 {
		title += fmt.Sprintf("; most often wrong: %s taken for %s, %s", d.Classes[worst[0]], d.Classes[worst[1]], thousands(int64(d.Counts[worst[0]][worst[1]])))
	}
	subtitle := "rows: true class; columns: predicted; colour: share of the row"
	if d.Problem != "" {
		subtitle = d.Problem + " · " + subtitle
	}
	axis := func(name string, inverse bool) object {
		return object{"type": "category", "data": d.Classes, "name": name, "nameLocation": "middle", "inverse": inverse,
			"axisLine": object{"show": false}, "axisTick": object{"show": false}, "splitLine": object{"show": false},
			"axisLabel": object{"overflow": "truncate"}}
	}
	return newChart(title, subtitle, "Confusion matrix of "+count(k, "class", "classes")+". "+title+". "+subtitle+".", object{
		"legend":  object{"show": false},
		"toolbox": toolbox("confusion", object{}),
		"tooltip": object{"trigger": "item", "formatter": script(confusionTip)},
		"grid":    object{},
		"xAxis":   list{axis("predicted class", false)},
		"yAxis":   list{axis("true class", true)},
		"series": list{object{"type": "custom", "data": cells, "encode": object{"x": 0, "y": 1},
			"renderItem": script(confusionCell)}},
		"svm": object{"classes": k, "names": d.Classes, "layout": script(confusionLayout)},
	}), nil
}

const confusionCell = `function (p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), n = api.value(2), share = api.value(3), gap = s[0] > 12 ? 1 : 0;
	var right = api.value(0) === api.value(1);
	var rect = { type: 'rect', shape: { x: c[0] - s[0] / 2 + gap, y: c[1] - s[1] / 2 + gap, width: s[0] - 2 * gap, height: s[1] - 2 * gap },
		style: { fill: T((right ? '@neg*' : '@pos*') + (n ? 0.08 + 0.8 * share : 0.02)) } };
	var font = Math.min(13, s[1] * 0.6, 1.6 * s[0] / String(n).length);
	if (!n || font < 7) return rect;
	return { type: 'group', children: [rect, { type: 'text', silent: true, x: c[0], y: c[1],
		style: { text: String(n), fill: T(share > 0.55 ? '@page' : '@ink'), fontSize: font, align: 'center', verticalAlign: 'middle' } }] };
}`

const confusionTip = `function (p) {
	var v = p.value, e = document.createElement('b'), f = document.createElement('b');
	e.textContent = O.svm.names[v[1]];
	f.textContent = O.svm.names[v[0]];
	return e.outerHTML + (v[0] === v[1] ? ' recognised' : ' taken for ' + f.outerHTML) + '<br>' + v[2] + (v[2] === 1 ? ' point, ' : ' points, ') + svm.num(100 * v[3], 3) + ' % of its class';
}`

// confusionLayout labels every class where a letter or three have room.
const confusionLayout = `function (w, top) {
	var narrow = w < 520, left = narrow ? 100 : 140, side = Math.min(w - left - 14, Math.max(180, Math.min(620, O.svm.classes * 72)));
	var cell = side / O.svm.classes, every = function (room) { return room < 16 ? 'auto' : 0; };
	return { height: Math.round(top + side + 62), option: { grid: { left: left, top: top, width: side, height: side },
		xAxis: [{ nameGap: 34, axisLabel: { width: Math.max(16, cell - 4), interval: every(cell) } }],
		yAxis: [{ nameGap: left - 18, axisLabel: { width: left - 42, interval: every(cell) } }] } };
}`
