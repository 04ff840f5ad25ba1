package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// block is what stays whole on a slide: a heading, a paragraph, code between blank lines or an output.
type block struct {
	kind      blockKind
	html      string
	high      int    // about, in pixels, without charts
	level     int    // of a heading, else 0
	exercise  bool   // an exercise begins here
	colon     bool   // the text goes on in what follows
	source    string // of code
	cell      *cell  // of code and outputs
	continued bool   // code of the same cell is before it
	stream    bool   // printed text
	charts    int    // how many charts the output has
	panels    bool   // its charts are side by side
	half      string // "chart" or "table" if it may be in half of a slide, else ""
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
	besideHigh         = 280 // of a text that fits beside a chart, where its lines are half as long
	panelsInRow        = 3
)

// pack puts the blocks on slides. A slide is bad if it is nearly empty, if its letters or charts must become
// smaller, or if what belongs together is on two slides. The slides of a subject are those for which the
// sum is least.
func (d *deck) pack() {
	running := ""
	for at := 0; at < len(d.blocks); {
		end := at + 1
		for end < len(d.blocks) && (d.blocks[end].level == 0 || d.blocks[end].level > 2) {
			end++
		}
		subject := d.blocks[at:end]
		first := at == 0 || subject[0].level > 0
		if level := subject[0].level; level == 1 || level == 2 {
			running = strings.TrimSpace(tag.ReplaceAllString(subject[0].html, ""))
		}
		for i, part := range split(subject) {
			s := &slide{first: first && i == 0}
			if level := part[0].level; level == 0 || level > 2 {
				s.running = running
			}
			if part[0].continued && running != "" {
				s.running += " (code continued)"
			}
			d.write(s, part)
			d.slides = append(d.slides, s)
		}
		at = end
	}
	d.blocks = nil
}

// split divides the blocks of a subject so that the sum of what is bad is least.
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
	fixed, charts := 0, 0
	if level := blocks[0].level; level == 0 || level > 2 {
		fixed = runningHigh
	}
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		fixed += b.high
		if b.kind == ofCode && i > 0 && blocks[i-1].cell == b.cell {
			fixed += codeHigh - codeGap
		}
		charts += b.rows()
		i += beside(blocks[i:])
	}
	full, room := fixed+charts*chartHigh, slideRoom
	const slide = 0.25 // one slide more is bad as well
	if full <= room {
		empty := float64(room-full) / float64(room)
		return slide + 2*empty*empty
	}
	if small := fixed + charts*chartLeast; small < room {
		part := float64(full-room) / float64(full-small)
		return slide + 1.2*part*part
	} else {
		full = small
	}
	over := float64(full)/float64(room) - 1
	bad := slide + 8*over
	if charts > 0 {
		bad += 1.2
	}
	if over > 0.15 {
		bad += 40 * (over - 0.15)
	}
	return bad
}

// rows returns in how many rows the charts of an output stand.
func (b *block) rows() int {
	if !b.panels {
		return b.charts
	}
	return (b.charts + panelsInRow - 1) / panelsInRow
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

// beside returns how many texts after a chart, which is the first block, are beside it.
func beside(blocks []*block) (n int) {
	if chart := blocks[0]; chart.charts != 1 || chart.panels {
		return 0
	}
	high := 0
	for _, b := range blocks[1:] {
		if high += b.high; b.kind != ofText || b.level > 0 || b.exercise || high > besideHigh {
			break
		}
		n++
	}
	return n
}

// write writes blocks to a slide.
func (d *deck) write(s *slide, blocks []*block) {
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		if b.kind == ofCode {
			source := b.source
			for i+1 < len(blocks) && blocks[i+1].kind == ofCode && blocks[i+1].cell == b.cell {
				i++
				source += "\n\n" + blocks[i].source
			}
			s.parts.WriteString(hangingCode(renderSource(d.md, b.cell, source)))
			continue
		}
		n := beside(blocks[i:])
		if n == 0 {
			s.parts.WriteString(b.html)
			continue
		}
		var text strings.Builder
		for _, t := range blocks[i+1 : i+1+n] {
			text.WriteString(t.html)
		}
		s.parts.WriteString(columns("beside", b.html, text.String()))
		i += n
	}
}

// hangingCode makes each line of code and of printed text an element. If it is broken, what follows is
// indented more than its beginning.
func hangingCode(page string) string {
	return preElement.ReplaceAllStringFunc(page, func(pre string) string {
		m := preElement.FindStringSubmatch(pre)
		var b strings.Builder
		var open []string // elements that go on in the next line
		rest := strings.TrimSuffix(m[2], "\n")
		for line := range strings.Lines(rest) {
			bare := tag.ReplaceAllString(line, "")
			deep := 0
			for _, r := range bare {
				if r == '\t' {
					deep += 4 - deep%4
				} else if r == ' ' {
					deep++
				} else {
					break
				}
			}
			fmt.Fprintf(&b, "<span class=\"hang\" style=\"--deep:%dch\">%s", deep+4, strings.Join(open, ""))
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

// preElement matches code and printed text.
var preElement = regexp.MustCompile(`(?s)(<pre\b[^>]*>(?:<code[^>]*>)?)(.*?)((?:</code>)?</pre>)`)
