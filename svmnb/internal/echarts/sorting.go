package echarts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
)

//go:embed table.js
var tableScript string

// Sorting returns the script that sorts a table when its head is clicked. id is that of the
// table's element. data is the JSON of the orders, or nil if the page has all rows.
func Sorting(id string, data []byte) string {
	return "<script>" + strings.TrimSpace(tableScript) + `("` + id + `",` + cmp.Or(string(data), "null") + ")</script>"
}

var sortingEnd = regexp.MustCompile(`^\("(svmtable-[0-9a-f]+)",([^<]*)\)</script>`)

// sortings keeps the scripts of [Sorting] in page, and replaces the rest by the result of
// other.
func sortings(page string, other func(html string) string) string {
	start := "<script>" + strings.TrimSpace(tableScript)
	var b, between strings.Builder
	for {
		before, rest, found := strings.Cut(page, start)
		between.WriteString(before)
		if !found {
			b.WriteString(other(between.String()))
			return b.String()
		}
		m := sortingEnd.FindStringSubmatch(rest)
		if m == nil || !json.Valid([]byte(m[2])) { // not written by Sorting
			between.WriteString(start)
			page = rest
			continue
		}
		b.WriteString(other(between.String()))
		between.Reset()
		b.WriteString(start + m[0])
		page = rest[len(m[0]):]
	}
}
