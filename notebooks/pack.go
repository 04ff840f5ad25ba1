package main

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
)

// block is what stays whole on a slide: a heading, a paragraph, code between blank lines or an output.
type block struct {
	kind      blockKind
	html      string
	high      int       // about, in pixels, without charts
	level     int       // of a heading, else 0
	exercise  bool      // an exercise begins here
	colon     bool      // the text goes on in what follows
	source    string    // Markdown or code
	cell      *cell     // of code and outputs
	continued bool      // code of the same cell is before it
	tight     bool      // no blank line is before it
	stream    bool      // printed text
	charts    int       // how many charts the output has
	panels    bool      // its charts are side by side
	whole     bool      // its chart has so many panels or columns, or a replay, that it needs a slide
	sides     [2]string // HTML of a chart and a table, which are side by side
	table     int       // how high this table is
	tiny      bool      // the heading of a subject that is too short for a slide
	half      string    // "chart" or "table" if it may be in half of a slide, else ""
}

type blockKind int

const (
	ofText blockKind = iota
	ofCode
	ofOutput
)

// These are heights in pixels, and widths in letters. They need not be exact: slides.js measures, and gives
// charts and letters the size for which a slide has room.
const (
	slideRoom          = 510
	lineHigh, lineWide = 30, 86
	codeHigh, codeWide = 21, 108
	rowHigh            = 33
	blockGap           = 12 // below a paragraph
	codeGap            = 34 // around code or an output
	runningHigh        = 32
	pictureHigh        = 480 // of a picture that does not say how high it is
	pairedHigh         = 600 // of what may be in half of a slide
	chartHigh          = 440 // of a row of charts that has a slide
	chartLeast         = 290 // of a row of charts that shares a slide
	chartTop           = 100 // of a chart, above what may be beside it
	tinyHigh           = 150 // of a subject that is too short for a slide
	panelsInRow        = 3
	manyPanels         = 4
	manyColumns        = 9  // of a heat map
	mostLines          = 24 // of code
)

// pack puts the blocks on slides. A slide is bad if it is nearly empty, if its letters or charts must become
// smaller, or if what belongs together is on two slides. The slides of a subject are those for which the
// sum is least.
func (d *deck) pack() {
	blocks := nearText(d.blocks)
	for at, end := 0, 0; at < len(blocks); at = end {
		high, text := 0, blocks[at].level == 2
		for end = at; end == at || end < len(blocks) && !blocks[end].begins(); end++ {
			high += blocks[end].high
			text = text && blocks[end].kind == ofText
		}
		blocks[at].tiny = text && high <= tinyHigh
	}
	running := ""
	for i, part := range split(blocks) {
		s := &slide{first: i == 0 || part[0].begins()}
		if !part[0].begins() {
			s.running = running
		}
		if part[0].continued && running != "" {
			s.running += " (code continued)"
		}
		for _, b := range part {
			if b.begins() {
				running = strings.TrimSpace(tag.ReplaceAllString(b.html, ""))
			}
		}
		d.write(s, part)
		d.slides = append(d.slides, s)
	}
	d.blocks = nil
}

// begins reports whether a subject begins with the block.
func (b *block) begins() bool { return b.level == 1 || b.level == 2 }

// nearText moves what a cell shows behind the code that follows, if more code than a slide has room for is
// between a chart and the text about it.
func nearText(blocks []*block) []*block {
	for at := 0; at < len(blocks); {
		end, charts, high := at, 0, 0
		for ; end < len(blocks) && blocks[end].kind == ofOutput; end++ {
			charts += blocks[end].charts
		}
		code := end
		for ; code < len(blocks) && blocks[code].kind == ofCode; code++ {
			high += blocks[code].high
		}
		text := code
		for ; text < len(blocks) && blocks[text].kind == ofOutput; text++ {
		}
		if charts > 0 && high > slideRoom/2 && code < text && text < len(blocks) && strings.HasPrefix(blocks[text].source, "**Reading") {
			blocks = slices.Concat(blocks[:at], blocks[end:code], blocks[at:end], blocks[code:])
			at = text
			continue
		}
		at = max(end, at+1)
	}
	return blocks
}

// split divides blocks so that the sum of what is bad is least.
func split(blocks []*block) (parts [][]*block) {
	n := len(blocks)
	least, from := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		least[end] = math.Inf(1)
		for at := range end {
			bad := least[at] + crowding(blocks[at:end])
			if at > 0 {
				bad += parting(blocks[at-1], blocks[at])
			}
			if bad < least[end] {
				least[end], from[end] = bad, at
			}
		}
	}
	for end := n; end > 0; end = from[end] {
		parts = append([][]*block{blocks[from[end]:end]}, parts...)
	}
	return parts
}

// crowding says how bad a slide is that is nearly empty or too full.
func crowding(blocks []*block) float64 {
	small, full, charts, bad := 0, 0, 0, 0.0
	if !blocks[0].begins() {
		small, full = runningHigh, runningHigh
	}
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		n, least, most := row(blocks[i:])
		small, full, charts = small+least, full+most, charts+b.charts
		if b.kind == ofCode && i > 0 && blocks[i-1].cell == b.cell {
			small, full = small+codeHigh-codeGap, full+codeHigh-codeGap
		}
		if b.whole && i > 0 {
			bad += 4
		}
		// A short subject may be on the slide of the one before it or after it, if that has no title.
		if i > 0 && b.begins() && (blocks[0].level == 1 || !b.tiny && !blocks[0].tiny) {
			bad += 100
		}
		i += n
	}
	const slide = 0.25 // one slide more is bad as well
	bad += slide
	if full <= slideRoom {
		empty := float64(slideRoom-full) / slideRoom
		return bad + 2*empty*empty
	}
	if small < slideRoom {
		part := float64(full-slideRoom) / float64(full-small)
		return bad + 1.2*part*part
	}
	over := float64(small)/slideRoom - 1
	bad += 8 * over
	if charts > 0 {
		bad += 1.2
	}
	if over > 0.15 {
		bad += 40 * (over - 0.15)
	}
	return bad
}

// row returns how many texts are beside the first block, and how high both are with the least charts and
// with charts of full size. A text beside a chart has half the width, and so it is twice as high there.
func row(blocks []*block) (texts, least, most int) {
	b := blocks[0]
	var high int
	switch {
	case b.charts == 0:
		return 0, b.high, b.high
	case b.whole:
		return 0, chartHigh, chartHigh
	case b.table > 0:
		high = b.table
	case b.panels:
		rows := (b.charts + panelsInRow - 1) / panelsInRow
		return 0, b.high + rows*chartLeast, b.high + rows*chartHigh
	case b.charts > 1:
		return 0, b.high + b.charts*chartLeast, b.high + b.charts*chartHigh
	default:
		high = chartTop
	}
	for _, text := range blocks[1:] {
		beside := text.kind == ofText && text.level == 0 && !text.exercise || text.stream && text.cell == b.cell && b.table > 0
		if !beside || high+2*text.high > chartHigh {
			break
		}
		high += 2 * text.high
		texts++
	}
	return texts, max(chartLeast, high), max(chartHigh, high)
}

// parting says how bad it is that a slide ends with a and the next one begins with b.
func parting(a, b *block) float64 {
	switch {
	case a.level > 0:
		return 100
	case b.level > 0, b.exercise:
		return -0.7
	case a.colon, a.exercise && b.kind == ofCode:
		return 4
	case a.kind == ofText && b.kind == ofText:
		return 0.1
	case b.kind == ofText: // about what is before it
		if a.kind == ofOutput {
			return 1.5
		}
		return 0
	case b.kind == ofCode && a.kind == ofText:
		return 0.5
	case b.kind == ofCode && b.continued:
		switch {
		case strings.HasPrefix(b.source, "\t"):
			return 1.2
		case strings.Count(a.source, "\n") < 2: // such as a type, which belongs to what follows
			return 0.8
		}
		return 0.4
	case b.kind == ofOutput && b.high > 0 && b.high <= codeGap+3*codeHigh:
		return 3
	case b.kind == ofOutput:
		return 0.6
	}
	return 0
}

// write writes blocks to a slide.
func (d *deck) write(s *slide, blocks []*block) {
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		if b.kind == ofCode {
			source := b.source
			for i+1 < len(blocks) && blocks[i+1].kind == ofCode && blocks[i+1].cell == b.cell {
				i++
				if blocks[i].tight {
					source += "\n" + blocks[i].source
				} else {
					source += "\n\n" + blocks[i].source
				}
			}
			s.parts.WriteString(hangingCode(renderSource(d.md, b.cell, source)))
			continue
		}
		n, _, _ := row(blocks[i:])
		var text strings.Builder
		for _, t := range blocks[i+1 : i+1+n] {
			text.WriteString(t.html)
		}
		switch about := "<div class=\"about\">\n" + text.String() + "</div>\n"; {
		case n == 0:
			s.parts.WriteString(b.html)
		case b.table == 0:
			s.parts.WriteString(columns("beside", b.html, about))
		case chartPlace.MatchString(b.sides[0]):
			s.parts.WriteString(columns("pair", b.sides[0], b.sides[1]+about))
		default:
			s.parts.WriteString(columns("pair", b.sides[0]+about, b.sides[1]))
		}
		i += n
	}
}

// hangingCode makes each line of code and of printed text an element. If it is broken, what follows is
// indented more than its beginning. On paper, the next line stays with one that stays.
func hangingCode(page string) string {
	return preElement.ReplaceAllStringFunc(page, func(pre string) string {
		m := preElement.FindStringSubmatch(pre)
		var b strings.Builder
		var open []string // elements that go on in the next line
		list := slices.Collect(strings.Lines(strings.TrimSuffix(m[2], "\n")))
		bare := make([]string, len(list))
		for i, line := range list {
			bare[i] = html.UnescapeString(tag.ReplaceAllString(line, ""))
		}
		for i, line := range list {
			deep := 0
			for _, r := range bare[i] {
				if r == '\t' {
					deep += 4 - deep%4
				} else if r == ' ' {
					deep++
				} else {
					break
				}
			}
			class := "hang"
			if staysWithNext(bare, i, strings.Contains(m[1], "code")) {
				class = "hang stay"
			}
			fmt.Fprintf(&b, "<span class=\"%s\" style=\"--deep:%dch\">%s", class, deep+4, strings.Join(open, ""))
			for _, t := range tag.FindAllString(line, -1) {
				if strings.HasPrefix(t, "</") {
					open = open[:max(0, len(open)-1)]
				} else {
					open = append(open, t)
				}
			}
			b.WriteString(line)
			for i := len(open) - 1; i >= 0; i-- {
				name, _, _ := strings.Cut(strings.Trim(open[i], "<>"), " ")
				b.WriteString("</" + name + ">")
			}
			b.WriteString("</span>")
		}
		return m[1] + b.String() + m[3]
	})
}

// staysWithNext reports whether the next line should be on the same page as line i. Short code and short printed
// text are whole. Longer code is broken at blank lines, and between statements that are not indented if no blank line
// is near.
func staysWithNext(list []string, i int, code bool) bool {
	const short, whole, ends = 14, 20, 5
	switch {
	case i+1 == len(list):
		return false
	case len(list) <= short, i+1 < ends, len(list)-i-1 < ends:
		return true
	case !code:
		return false
	case blank(list[i]):
		return false
	}
	from, to := i, i
	for from > 0 && !blank(list[from-1]) {
		from--
	}
	for to < len(list) && !blank(list[to]) {
		to++
	}
	next := list[i+1]
	return to-from <= whole || blank(next) || strings.ContainsAny(next[:1], " \t})") || strings.HasPrefix(list[i], "//") || strings.HasPrefix(list[i], "%%")
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// preElement matches code and printed text.
var preElement = regexp.MustCompile(`(?s)(<pre\b[^>]*>(?:<code[^>]*>)?)(.*?)((?:</code>)?</pre>)`)
