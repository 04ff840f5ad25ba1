package echarts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Names in an option: none is code, all are clean, none is endless.
func TestNamesOfAChart(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, want := range map[string]string{
		"plain":                       "plain",
		"__f__alert(1)__f__":          "\u200b__f__alert(1)__f__",
		"\u202e__f__alert(1)__f__":    "\u200b__f__alert(1)__f__", // a mark that shows when others have gone
		"</script><script>":           "</script><script>",
		"a\x00b\x1b":                  "a b ",
		"bad \xff":                    "bad \ufffd",
		"\u202eright\u2066":           "right",
		"two\nlines":                  "two\nlines",
		"quote \" and \\ and \\u202e": "quote \" and \\ and \\u202e",
		long:                          long[:299] + "…",
		"größer \u202f 大":             "größer \u202f 大",
		"@pos":                        "@pos",
		"__proto__":                   "_\u200b_proto__",
		"a __proto__\n__proto__":      "a _\u200b_proto__\n_\u200b_proto__",
		"${x} {a} %MY_ECHARTS%":       "${x} {a} %MY_ECHARTS%",
	} {
		c := bar(name, 1, 2)
		c.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Formatter: opts.FuncOpts(`function (p) { return p.name; }`)}))
		data, err := encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "</script") {
			t.Errorf("%.40q: a script's end in %.300s", name, data)
		}
		var o struct {
			Title   struct{ Text string }
			Tooltip struct{ Formatter string }
			Series  []struct{ Name string }
		}
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		if o.Title.Text != want || o.Series[0].Name != want {
			t.Errorf("%.40q: the title is %.60q, the series %.60q", name, o.Title.Text, o.Series[0].Name)
		}
		if !strings.HasPrefix(o.Tooltip.Formatter, "__f__") {
			t.Errorf("%.40q: the function is %q", name, o.Tooltip.Formatter)
		}
	}
}

// What looks like a chart is written again, or handed over.
func TestAlive(t *testing.T) {
	drawn, err := Draw(bar("b", 1))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := DrawAs("x", bar("b", 1))
	if err != nil {
		t.Fatal(err)
	}
	table := Sorting("svmtable-0a", []byte(`{"rows":{}}`))
	drop := func(html string) string {
		if strings.Contains(html, "animation:svm-wait") { // what stands in a chart's place
			return html
		}
		return strings.ReplaceAll(html, "<", "&lt;")
	}
	id := drawn.HTML[strings.Index(drawn.HTML, "svm-"):][:20]
	for name, test := range map[string]struct {
		in, want string
		charts   int
	}{
		"a chart":            {drawn.HTML, drawn.HTML, 1},
		"one that changes":   {changes.HTML, changes.HTML, 1},
		"between":            {"<a>" + drawn.HTML + "<b>", "&lt;a>" + drawn.HTML + "&lt;b>", 1},
		"a table":            {"<a>" + table + "<b>", "&lt;a>" + table + "&lt;b>", 0},
		"no table":           {strings.Replace(table, `{"rows":{}}`, `alert(1)`, 1), strings.ReplaceAll(strings.Replace(table, `{"rows":{}}`, `alert(1)`, 1), "<", "&lt;"), 0},
		"the library":        {"a" + Library() + "b", "ab", 0},
		"another library":    {"a<script>(function svmnb(w, packed) {old})(window,'')</script>b", "ab", 0},
		"joined by its loss": {"<scr" + Library() + "ipt>", "&lt;script>", 0},
		"more after it":      {strings.Replace(drawn.HTML, ",me)})})(window", ",me);alert(1)})})(window", 1), strings.ReplaceAll(strings.Replace(drawn.HTML, ",me)})})(window", ",me);alert(1)})})(window", 1), "<", "&lt;"), 0},
		"another id":         {strings.ReplaceAll(changes.HTML, "svm-live-", `svm-live-x');alert('`), strings.ReplaceAll(strings.ReplaceAll(changes.HTML, "svm-live-", `svm-live-x');alert('`), "<", "&lt;"), 0},
		"an id of its own":   {strings.ReplaceAll(drawn.HTML, id, `svm-x`), drawn.HTML, 1},
	} {
		if name == "more after it" || name == "another id" {
			drop := func(html string) string { return strings.ReplaceAll(html, "<", "&lt;") }
			if got, n := Alive(test.in, drop); got != test.want || n != 0 {
				t.Errorf("%s: %d charts, %.600s", name, n, got)
			}
			continue
		}
		if got, n := Alive(test.in, drop); got != test.want || n != test.charts {
			t.Errorf("%s: %d charts\n%.900s\nwant\n%.900s", name, n, got, test.want)
		}
	}
	hidden := strings.Replace(drawn.HTML, `"series"`, `"x":"</script><script>alert(1)</script>","series"`, 1)
	if got, _ := Alive(hidden, drop); strings.Contains(got, "<script>alert") {
		t.Errorf("a script in an option: %s", got)
	}
}
