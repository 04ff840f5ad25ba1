package controls

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/jslint"
)

var panel = &Panel{
	Dials:   []Dial{{"C", -1, []string{"1", "2", "3"}, 1}, {"</script>\"'&", 0, []string{"0.5"}, 0}},
	Kernels: []string{"RBF", "Linear"}, Methods: []string{"SMO"},
}

// What the page is told is safe in a script, and comes back to the letter.
func TestHTML(t *testing.T) {
	text, err := panel.HTML("svm-explore-7", "k1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, `<div id="svm-explore-7"></div><script>`) || strings.Count(text, "</script>") != 1 || strings.Contains(text, "http://") {
		t.Errorf("%s", text)
	}
	var spec struct {
		ID, Address, Kernel string
		Dials               []Dial
		At                  []int
		Kernels, Methods    []string
	}
	at := strings.LastIndex(text, "(window,")
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text[at+len("(window,"):], ",document.currentScript)</script>")), &spec); err != nil {
		t.Fatal(err)
	}
	if spec.ID != "svm-explore-7" || spec.Kernel != "k1" || !reflect.DeepEqual(spec.At, []int{1, 0}) || spec.Dials[1].Name != panel.Dials[1].Name || !reflect.DeepEqual(spec.Kernels, panel.Kernels) {
		t.Errorf("%+v", spec)
	}
	if got := Seen("svm-explore-7", 12); got != `data-svm-seen="svm-explore-7 12"` {
		t.Error(got)
	}
}

// Messages arrive in any order, some twice: the latest counts, and Come says so.
func TestMailbox(t *testing.T) {
	m := NewMailbox(panel, func(State) {})
	order := rand.New(rand.NewPCG(1, 2)).Perm(50)
	for _, k := range append(order, order...) {
		m.Receive(fmt.Sprintf(`{"n":%d,"at":[%d,0],"kernel":%d}`, k+1, k%3, k%2))
	}
	select {
	case <-m.Come:
	default:
		t.Fatal("nobody was told")
	}
	if got := m.Take(); got.N != 50 || got.At[0] != 49%3 || got.Kernel != 1 || got.Done {
		t.Errorf("%+v", got)
	}
	heard := m.Heard()
	time.Sleep(time.Millisecond)
	m.Receive(`{"n":50,"at":[0,0]}`) // only to say that the page is there
	if len(m.Come) != 0 || !m.Heard().After(heard) {
		t.Errorf("%d states, heard at %v and then at %v", len(m.Come), heard, m.Heard())
	}
	m.Again()
	m.Again()
	if len(m.Come) != 1 {
		t.Errorf("%d states wait", len(m.Come))
	}
	<-m.Come
	heard = m.Heard()
	for _, text := range []string{"", "{", `{"n":60}`, `{"n":60,"at":[0]}`, `{"n":60,"at":[3,0]}`, `{"n":60,"at":[-1,0]}`, `{"n":60,"at":[0,0],"kernel":2}`, `{"n":60,"at":[0,0],"method":1}`, `{"n":"60","at":[0,0]}`} {
		if m.Receive(text); len(m.Come) != 0 || m.Take().N != 50 || m.Heard() != heard {
			t.Errorf("%s is taken for a state", text)
		}
	}
}

// Each message is answered once, to the page that has sent it, however often and in
// whatever order it comes; none after the end.
func TestMailboxAnswers(t *testing.T) {
	var said []string
	m := NewMailbox(panel, func(s State) { said = append(said, fmt.Sprint(s.From, s.Say, " ", s.N)) })
	for _, text := range []string{
		`{"n":1,"at":[1,0],"from":"a","say":1}`, // a page asks
		`{"n":1,"at":[1,0],"from":"a","say":1}`, // and again, impatiently
		`{"n":9,"at":[2,0],"from":"a","say":3}`,
		`{"n":8,"at":[0,0],"from":"a","say":2}`, // late
		`{"n":1,"at":[1,0],"from":"b","say":1}`, // another page asks: the state stays
		`{"n":9,"at":[2,0],"from":"a","say":4}`, // "I am here"
		`{"n":9,"at":[7,0],"from":"a","say":5}`, // of no panel of ours
	} {
		m.Receive(text)
	}
	if want := []string{"a1 1", "a3 9", "b1 1", "a4 9"}; !reflect.DeepEqual(said, want) {
		t.Errorf("answered %q, want %q", said, want)
	}
	if s := m.Take(); s.N != 9 || s.At[0] != 2 {
		t.Errorf("the state is %+v", s)
	}
	m.Close()
	m.Receive(`{"n":10,"at":[1,0],"from":"a","say":6}`)
	if len(said) != 4 || m.Take().N != 9 {
		t.Errorf("after the end %q, state %+v", said, m.Take())
	}
	if got, want := Heard("svm-explore-7", State{From: `"><script>`, Say: 3}, ""), `<span hidden data-svm-heard="svm-explore-7 &#34;&gt;&lt;script&gt; 3"></span>`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestScriptIsSound(t *testing.T) {
	for _, wrong := range jslint.Check("controls.js", script) {
		t.Error(wrong)
	}
}

// A living figure comes with its script and without states of dials; its questions and their
// answers keep every bit.
func TestFigure(t *testing.T) {
	p := &Panel{Figure: map[string]string{"name": "</script>"}, Script: "draw()"}
	text, err := p.HTML("svm-explore-8", "k1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, `<script>draw()</script><div id="svm-explore-8"></div><script>`) || strings.Count(text, "</script>") != 2 || !strings.Contains(text, `"at":[]`) {
		t.Errorf("%s", text)
	}
	var heard []State
	m := NewMailbox(p, func(s State) { heard = append(heard, s) })
	m.Receive(`{"n":1,"at":[],"kernel":0,"method":0,"from":"a","say":1,"question":{"kernel":"RBF(1)","method":"SMO","numbers":"AAAAAAAA8D8="}}`)
	m.Receive(`{"n":2,"from":"a","say":2,"question":null,"done":true}`)
	if len(heard) != 2 || heard[0].Question == nil || heard[0].Question.Kernel != "RBF(1)" || !reflect.DeepEqual(heard[0].Question.Numbers, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}) || heard[1].Question != nil || !m.Take().Done {
		t.Errorf("%+v", heard)
	}
	for want, got := range map[string]string{
		` data-svm-answer="f64 AAAAAAAA8D8="`: Answer([]float64{1}, false, nil),
		` data-svm-answer="f32 AACAPw=="`:     Answer([]float64{1}, true, nil),
		` data-svm-answer="err bm8="`:         Answer(nil, true, errors.New("no")),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
