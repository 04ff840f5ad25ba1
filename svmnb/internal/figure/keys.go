package figure

import (
	"fmt"
	"strconv"
	"strings"
)

// keyWidth is the width of a key of the legend in pixels.
const keyWidth = 26

// whisker is the key of intervals.
const whisker = "path://M3 0H9V2H7V10H9V12H3V10H5V2H3Z"

// wholeSymbols are the symbols that a key would stretch.
var wholeSymbols = map[string]string{
	"triangle": "path://M8 0 16 14H0Z",
	"diamond":  diamond,
	"rect":     "path://M0 0H12V12H0Z",
}

// legend returns the entries of the legend. Each key looks like its mark: a line has its colour,
// width, dashes and symbols; an area has its colour, blended with the areas below it, and its
// edge. What an entry itself says wins.
func (p *plot) legend() list {
	keys := make(list, len(p.keys))
	for k, key := range p.keys {
		keys[k] = key
		own, ok := key.(object)
		if !ok {
			continue
		}
		at := p.marked(own["name"])
		if at < 0 {
			continue
		}
		look := p.look(at)
		merge(look, own)
		if pen, ok := p.series[at].(object)["lineStyle"].(object); ok {
			look["icon"] = penIcon(p.series[at].(object), pen)
		}
		keys[k] = look
	}
	return keys
}

// marked returns the index of the mark of a key, or −1. A mark with the colour of the page is
// the rim of another one.
func (p *plot) marked(name any) int {
	for k, s := range p.series {
		m := s.(object)
		pen, _ := m["lineStyle"].(object)
		if m["name"] == name && pen["color"] != "@page" {
			return k
		}
	}
	return -1
}

// look returns the entry that shows mark k.
func (p *plot) look(k int) object {
	m := p.series[k].(object)
	if pen, ok := m["lineStyle"].(object); ok {
		style := object{"color": pen["color"], "borderWidth": 0, "opacity": 1}
		if o, ok := pen["opacity"]; ok {
			style["opacity"] = o
		}
		return object{"itemStyle": style}
	}
	if m["type"] == "scatter" {
		look, symbol := object{}, m["symbol"]
		if name, ok := symbol.(string); ok && wholeSymbols[name] != "" {
			look["icon"] = wholeSymbols[name]
		}
		if item, ok := m["itemStyle"].(object); ok && item["borderColor"] == "@page" { // a rim that separates the symbol from others
			look["itemStyle"] = object{"borderWidth": 0}
		}
		return look
	}
	item, _ := m["itemStyle"].(object)
	color, _ := item["color"].(string)
	style := object{"borderWidth": 0}
	if color != "" {
		style["color"] = p.blended(k, color)
	}
	for _, edge := range []string{"borderWidth", "borderColor", "borderType"} {
		if v, ok := item[edge]; ok {
			style[edge] = v
		}
	}
	return object{"icon": "rect", "itemStyle": style}
}

// blended returns the colour of area k as the eye sees it above the areas of the same hue in the
// same panel that were drawn before: a narrow band lies within a wide one.
func (p *plot) blended(k int, color string) string {
	hue, opacity := translucent(color)
	if opacity == 1 {
		return color
	}
	through := 1 - opacity
	for _, s := range p.series[:k] {
		m := s.(object)
		item, _ := m["itemStyle"].(object)
		below, _ := item["color"].(string)
		if h, o := translucent(below); m["type"] == "custom" && m["xAxisIndex"] == p.series[k].(object)["xAxisIndex"] && h == hue && o < 1 {
			through *= 1 - o
		}
	}
	return hue + "/" + strconv.FormatFloat(roundTo(1-through, 3), 'f', -1, 64)
}

// translucent returns the hue and the opacity of a token such as "@pos/0.4".
func translucent(color string) (hue string, opacity float64) {
	hue, share, ok := strings.Cut(color, "/")
	if opacity, err := strconv.ParseFloat(share, 64); ok && err == nil {
		return hue, opacity
	}
	return color, 1
}

// penIcon returns a piece of a line as an icon, with its width, its dashes, and its symbol if the
// line has them at its places.
func penIcon(m, pen object) string {
	width := pixels(pen["width"], 2)
	dash := dashOf(pen["type"], width)
	var b strings.Builder
	b.WriteString("path://")
	for x, k := 0.0, 0; x < keyWidth; k++ {
		to := min(x+dash[k%len(dash)], keyWidth)
		if k%2 == 0 {
			fmt.Fprintf(&b, "M%g 0H%gV%gH%gZ", roundTo(x, 3), roundTo(to, 3), width, roundTo(x, 3))
		}
		x = to
	}
	size := pixels(m["symbolSize"], 0)
	if item, _ := m["itemStyle"].(object); pixels(item["opacity"], 1) == 0 {
		size = 0 // the symbols are there for the tooltip only
	}
	if symbol, ok := m["symbol"]; ok && symbol != "none" && m["showSymbol"] != false && size > width {
		size = min(size, 10)
		fmt.Fprintf(&b, "M%g %ga%g %g 0 1 1 %g 0a%g %g 0 1 1 %g 0Z", roundTo((keyWidth-size)/2, 3), width/2, size/2, size/2, size, size/2, size/2, -size)
	}
	return b.String()
}

// dashOf returns the lengths of the dashes and gaps of a line, as ECharts draws them.
func dashOf(kind any, width float64) []float64 {
	var dash []float64
	switch kind := kind.(type) {
	case string:
		switch kind {
		case "dashed":
			return []float64{4 * width, 2 * width}
		case "dotted":
			return []float64{width, width}
		}
	case list:
		for _, length := range kind {
			dash = append(dash, pixels(length, width))
		}
	case []int:
		for _, length := range kind {
			dash = append(dash, float64(length))
		}
	}
	if len(dash) == 0 {
		return []float64{keyWidth}
	}
	return dash
}

// pixels returns a length as a number.
func pixels(v any, otherwise float64) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return otherwise
}
