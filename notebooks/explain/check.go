package explain

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// checked is the type under which the display of a check has its result, as in package lab.
const checked = "application/vnd.svmnb.check+json"

// check adds to the result of a check that the newest cell with the answer has failed, or that it now
// has another name. The check then judges an older answer, since GoNB remembers what it could compile.
func (s *Session) check(request string, content []byte) []byte {
	c := s.byRequest[request]
	var display map[string]json.RawMessage
	var data map[string]json.RawMessage
	if c == nil || json.Unmarshal(content, &display) != nil || json.Unmarshal(display["data"], &data) != nil {
		return content
	}
	var failed *cell
	name := ""
	for _, m := range regexp.MustCompile(`(?:^|[^.\pL\pN_])(`+ident+`)`).FindAllStringSubmatch(bareLines(c.lines), -1) {
		other := s.lost[m[1]]
		if owner := s.owner[m[1]]; other == nil && owner != nil && s.now(owner) != owner {
			other = owner
		}
		own := slices.ContainsFunc(c.lines, func(line string) bool { return makes(line, m[1]) })
		if other != nil && !own && (failed == nil || other.count > failed.count) {
			failed, name = other, m[1]
		}
	}
	if failed == nil {
		return content
	}
	note := fmt.Sprintf("Cell [%d] has failed, so its %s is not known. This check is about the %s before it. Correct cell [%d], run it, and check again.", failed.count, name, name, failed.count)
	if now := s.now(failed); now != failed {
		note = fmt.Sprintf("Cell [%d] no longer declares %s. It should have a line that begins with %s. This check is about the %s before it. Correct cell [%d], run it, and check again.", now.count, name, failed.had(name), name, now.count)
	}
	for kind, add := range map[string]string{
		"text/plain": note + "\n",
		"text/html":  `<div style="margin:.4em 0;font-weight:600">` + html.EscapeString(note) + "</div>\n",
	} {
		var text string
		if json.Unmarshal(data[kind], &text) != nil {
			continue
		}
		quoted, err := json.Marshal(text + add)
		if err != nil {
			return content
		}
		data[kind] = quoted
	}
	changed, err := json.Marshal(data)
	if err != nil {
		return content
	}
	display["data"] = changed
	return marshal(display, content)
}

func bareLines(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(bare(line) + "\n")
	}
	return b.String()
}
