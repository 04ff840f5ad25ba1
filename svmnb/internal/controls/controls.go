// Package controls puts sliders and choices into a notebook's page and hears what a
// reader does with them while the cell runs.
package controls

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/comms"
)

//go:embed controls.js
var script string

// Patience is how long page and program wait for each other: on a busy machine a page
// takes seconds to open its channel. After Alone without a word from a page the program
// ends.
const (
	Patience = 10 * time.Second
	Alone    = 3 * time.Minute
)

// Panel is what there is to be moved and chosen.
type Panel struct {
	Dials   []Dial
	Kernels []string
	Methods []string
}

// Dial is a slider over Values, which stands at At in the beginning.
type Dial struct {
	Name   string
	Kernel int // the kernel that it belongs to; −1 for all
	Values []string
	At     int
}

// State is how everything stands. The zero value of N is before there was any.
type State struct {
	N      int64 // greater than that of the state before
	At     []int // of each dial
	Kernel int
	Method int
	Done   bool

	From string // the page that sends it
	Say  int64  // number of the message, greater than that of the message before
}

// HTML is the place of the controls in the page of the kernel, by the id of the place.
// They appear when the program has answered, see [Seen], and say what they have to say
// at the address of the id.
func (p *Panel) HTML(id, kernel string) (string, error) {
	type dial struct {
		Name   string   `json:"name"`
		Kernel int      `json:"kernel"`
		Values []string `json:"values"`
	}
	spec := struct {
		ID       string   `json:"id"`
		Address  string   `json:"address"`
		Kernel   string   `json:"kernel"`
		Patience int64    `json:"patience"`
		Alone    int64    `json:"alone"`
		Dials    []dial   `json:"dials"`
		At       []int    `json:"at"`
		Kernels  []string `json:"kernels"`
		Methods  []string `json:"methods"`
	}{ID: id, Address: address(id), Kernel: kernel, Patience: 2 * Patience.Milliseconds(), Alone: Alone.Milliseconds(), Kernels: p.Kernels, Methods: p.Methods}
	for _, d := range p.Dials {
		spec.Dials, spec.At = append(spec.Dials, dial{d.Name, d.Kernel, d.Values}), append(spec.At, d.At)
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<div id="%s"></div><script>%s(window,%s,document.currentScript)</script>`, html.EscapeString(id), strings.TrimSpace(script), data), nil
}

func address(id string) string { return "/svmnb/" + id }

// Seen is the attribute of an element that says that the state n has been answered.
func Seen(id string, n int64) string {
	return fmt.Sprintf(`data-svm-seen="%s %d"`, html.EscapeString(id), n)
}

// Heard is an element that says to the page that has sent s that it has arrived, and so
// that the page sees what the program displays.
func Heard(id string, s State) string {
	return fmt.Sprintf(`<span hidden data-svm-heard="%s %s %d"></span>`, html.EscapeString(id), html.EscapeString(s.From), s.Say)
}

// Mailbox holds the latest state of the controls of an id.
type Mailbox struct {
	Come chan struct{} // has an element when there is a state that Take has not given

	panel *Panel
	hear  func(State)
	mu    sync.Mutex
	state State // the latest
	last  State // that has arrived
	heard time.Time
	over  bool
}

// NewMailbox returns an empty one for the states of a panel. It calls hear, once at a
// time, when a message has arrived that was not the one before again.
func NewMailbox(p *Panel, hear func(State)) *Mailbox {
	return &Mailbox{Come: make(chan struct{}, 1), panel: p, hear: hear, heard: time.Now()}
}

// Listen puts what the controls of an id say into the mailbox for as long as the
// program runs. It does not wait for the page.
func (m *Mailbox) Listen(id string) {
	comms.Subscribe(address(id), func(_ string, text string) { m.Receive(text) })
}

// Receive takes a state, as the page writes it, if it is newer than what there is:
// they arrive in any order.
func (m *Mailbox) Receive(text string) {
	var s State
	if json.Unmarshal([]byte(text), &s) != nil || !m.panel.has(s) {
		return // of no page of ours
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.heard = time.Now()
	if s.From != m.last.From || s.Say > m.last.Say {
		m.last = s
		m.hear(s)
	}
	if s.N > m.state.N {
		m.state = s
		m.Again()
	}
}

// Close ends the calls of hear.
func (m *Mailbox) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
}

// Again makes Come say that there is a state.
func (m *Mailbox) Again() {
	select {
	case m.Come <- struct{}{}:
	default: // it does
	}
}

// Take returns the latest state.
func (m *Mailbox) Take() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Heard returns when the page last said that it is there.
func (m *Mailbox) Heard() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard
}

// has reports whether s is a state of the panel.
func (p *Panel) has(s State) bool {
	if len(s.At) != len(p.Dials) || s.Kernel < 0 || s.Kernel >= len(p.Kernels) || s.Method < 0 || s.Method >= len(p.Methods) {
		return false
	}
	for i, at := range s.At {
		if at < 0 || at >= len(p.Dials[i].Values) {
			return false
		}
	}
	return true
}
