package figure

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// Every entry of a legend has a mark, and the key of a line has its dashes, its width and its colour.
func keysAreMarks(t *testing.T, name string, c *Chart) {
	t.Helper()
	data := must[[]byte](t)(json.Marshal(c.JSON()))
	var option struct {
		Legend any `json:"legend"`
		Series []struct {
			Type, Name string
			LineStyle  *struct {
				Color string
				Width float64
				Type  any
			}
		}
	}
	if err := json.Unmarshal(data, &option); err != nil {
		t.Fatal(err)
	}
	legend, ok := option.Legend.(map[string]any)
	if all, several := option.Legend.([]any); several && len(all) > 0 {
		legend, ok = all[0].(map[string]any)
	}
	if !ok {
		return
	}
	entries, _ := legend["data"].([]any)
	for _, e := range entries {
		key, ok := e.(map[string]any)
		if !ok {
			continue
		}
		found := false
		for _, s := range option.Series {
			if s.Name != key["name"] || s.LineStyle != nil && s.LineStyle.Color == "@page" || found {
				continue
			}
			found = true
			icon, _ := key["icon"].(string)
			switch {
			case s.Type == "line" && s.LineStyle == nil:
				t.Errorf("%s: the line %q has no pen", name, s.Name)
			case s.LineStyle != nil:
				style, _ := key["itemStyle"].(map[string]any)
				dashed := s.LineStyle.Type != nil && s.LineStyle.Type != "solid"
				if pieces := strings.Count(icon, "H") / 2; icon == "" || dashed != (pieces > 1) || style["color"] != s.LineStyle.Color {
					t.Errorf("%s: the key of %q is %v, its line %+v", name, s.Name, key, *s.LineStyle)
				}
				if m := regexp.MustCompile(`^path://M0 0H[\d.]+V([\d.]+)`).FindStringSubmatch(icon); m == nil || !strings.HasPrefix(m[1], strings.TrimSuffix(json.Number(must[[]byte](t)(json.Marshal(s.LineStyle.Width))).String(), "0")) {
					t.Errorf("%s: the key of %q is %s, its line %v wide", name, s.Name, icon, s.LineStyle.Width)
				}
			}
		}
		if !found {
			t.Errorf("%s: the legend has %q, but no mark has this name", name, key["name"])
		}
	}
}

// A narrow band within a wide one is seen above it, and so is its key.
func TestBandsInLegend(t *testing.T) {
	var p plot
	p.add(band(0, "wide", "x", "l", "u", "@series1/0.2", ""), band(1, "other panel", "x", "l", "u", "@series1/0.5", ""), band(0, "narrow", "x", "l", "u", "@series1/0.5", ""),
		line(nil).name("line").symbols("circle", 8).ink("@pos", 2, list{4, 2}))
	for _, name := range []string{"wide", "narrow", "line"} {
		p.key(name)
	}
	for k, want := range []string{"@series1/0.2", "@series1/0.6", "@pos"} {
		if got := p.legend()[k].(object)["itemStyle"].(object)["color"]; got != want {
			t.Errorf("the key of %v is %v, want %s", p.legend()[k].(object)["name"], got, want)
		}
	}
	if got, want := p.legend()[2].(object)["icon"], "path://M0 0H4V2H0ZM6 0H10V2H6ZM12 0H16V2H12ZM18 0H22V2H18ZM24 0H26V2H24ZM9 1a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z"; got != want {
		t.Errorf("the key of a dashed line with dots is %v, want %s", got, want)
	}
}
