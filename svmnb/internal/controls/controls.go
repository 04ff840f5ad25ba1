// Package controls shows sliders and choices in a notebook's page and receives what the
// reader does with them while the cell runs.
package controls

import (
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/comms"
)

//go:embed controls.js
var script string

// Patience is how long the program waits for the page, since on a busy machine a page takes
// seconds to open its channel. (The page waits twice as long for the program.) If no page
// has sent a message for the time Alone, the program ends.
const (
	Patience = 10 * time.Second
	Alone    = 3 * time.Minute
)

// Panel is the set of controls.
type Panel struct {
	Dials   []Dial
	Kernels []string
	Methods []string

	// Figure is the specification of a living figure, which then has the controls, and Script
	// the script that draws it. The states of such a panel have a Question and nothing else.
	Figure any
	Script string
}

// Dial is a slider over Values. It begins at index At.
type Dial struct {
	Name   string
	Kernel int // index of the kernel that has this parameter; −1 if all have it
	Values []string
	At     int
}

// State is the state of all controls. The zero value, with N = 0, means that none has
// arrived.
type State struct {
	N      int64 // increases with every change
	At     []int // index of the value of each dial
	Kernel int
	Method int
	Done   bool

	From string // id of the page that sent the state
	Say  int64  // number of the message, which increases

	Question *Question // of a living figure
}

// Question is a question to the engine of living figures.
type Question struct {
	Kernel, Method string
	Numbers        []byte // float64, the lowest byte first
}

// HTML returns the element with this id in which the page shows the controls. The page
// sends their states to the address that belongs to the id. The controls appear when the
// program answers; see [Seen].
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
		Figure   any      `json:"figure,omitempty"`
	}{Figure: p.Figure, At: []int{}, ID: id, Address: address(id), Kernel: kernel, Patience: 2 * Patience.Milliseconds(), Alone: Alone.Milliseconds(), Kernels: p.Kernels, Methods: p.Methods}
	for _, d := range p.Dials {
		spec.Dials, spec.At = append(spec.Dials, dial{d.Name, d.Kernel, d.Values}), append(spec.At, d.At)
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	figure := ""
	if p.Figure != nil {
		figure = "<script>" + p.Script + "</script>"
	}
	return fmt.Sprintf(`%s<div id="%s"></div><script>%s(window,%s,document.currentScript)</script>`, figure, html.EscapeString(id), strings.TrimSpace(script), data), nil
}

func address(id string) string { return "/svmnb/" + id }

// Seen returns the attribute by which an element tells the page that state n has been
// answered.
func Seen(id string, n int64) string {
	return fmt.Sprintf(`data-svm-seen="%s %d"`, html.EscapeString(id), n)
}

// Heard returns an element that tells the page that its message s has arrived. Since the
// page sees the element, it also knows that it receives what the program displays. answer is
// "" or that of [Answer].
func Heard(id string, s State, answer string) string {
	return fmt.Sprintf(`<span hidden data-svm-heard="%s %s %d"%s></span>`, html.EscapeString(id), html.EscapeString(s.From), s.Say, answer)
}

// Answer returns what Heard gives the page for an answer: float64 numbers, or float32 ones if
// they are coarse, or words if err is not nil.
func Answer(numbers []float64, coarse bool, err error) string {
	kind, b := "f64", []byte{}
	switch {
	case err != nil:
		kind, b = "err", []byte(err.Error())
	case coarse:
		kind = "f32"
		for _, v := range numbers {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	default:
		for _, v := range numbers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return fmt.Sprintf(` data-svm-answer="%s %s"`, kind, base64.StdEncoding.EncodeToString(b))
}

// Mailbox holds the latest state of a set of controls.
type Mailbox struct {
	Come chan struct{} // receives a value when there is a new state for Take

	panel *Panel
	hear  func(State)
	mu    sync.Mutex
	state State // the state with the largest N
	last  State // the last state that arrived
	heard time.Time
	over  bool
}

// NewMailbox returns an empty mailbox for the states of a panel. It calls hear for every
// message that is not a repetition, one call at a time.
func NewMailbox(p *Panel, hear func(State)) *Mailbox {
	return &Mailbox{Come: make(chan struct{}, 1), panel: p, hear: hear, heard: time.Now()}
}

// Listen passes the messages of the controls with this id to Receive, as long as the
// program runs. It returns at once.
func (m *Mailbox) Listen(id string) {
	comms.Subscribe(address(id), func(_ string, text string) { m.Receive(text) })
}

// Receive takes the text of a state and stores the state if it is newer than the stored
// one. States may arrive in any order.
func (m *Mailbox) Receive(text string) {
	var s State
	if json.Unmarshal([]byte(text), &s) != nil || !m.panel.has(s) {
		return // not a state of these controls
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

// Again puts a value into Come if it is empty, so that its receiver looks at the state.
func (m *Mailbox) Again() {
	select {
	case m.Come <- struct{}{}:
	default: // Come reports one already
	}
}

// Take returns the latest state.
func (m *Mailbox) Take() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Heard returns the time of the last message of the page.
func (m *Mailbox) Heard() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard
}

// has reports whether s can be a state of the panel.
func (p *Panel) has(s State) bool {
	if p.Figure != nil {
		return true
	}
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
