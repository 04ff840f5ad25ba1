package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"
)

func TestWire(t *testing.T) {
	w := wire{key: []byte("key"), session: "s"}
	raw, err := w.encode("id-1", "execute_request", map[string]string{"code": "x"})
	if err != nil {
		t.Fatal(err)
	}
	raw.Frames = append([][]byte{[]byte("a topic or an identity")}, raw.Frames...)
	m, err := w.decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.ID != "id-1" || m.Header.Type != "execute_request" || m.Header.Session != "s" || string(m.Content) != `{"code":"x"}` {
		t.Errorf("decoded %+v, content %s", m, m.Content)
	}

	for name, damage := range map[string]func(f [][]byte) [][]byte{
		"other content": func(f [][]byte) [][]byte { f[len(f)-1] = []byte(`{"code":"y"}`); return f },
		"other key":     func(f [][]byte) [][]byte { f[2] = wire{key: []byte("no")}.sign(f[3:]); return f },
		"no delimiter":  func(f [][]byte) [][]byte { return f[2:] },
		"cut short":     func(f [][]byte) [][]byte { return f[:4] },
		"empty":         func(f [][]byte) [][]byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			frames := make([][]byte, len(raw.Frames))
			copy(frames, raw.Frames)
			if _, err := w.decode(zmq4.NewMsgFrom(damage(frames)...)); err == nil {
				t.Error("decoded without an error")
			}
		})
	}
}

// published is a message as the kernel publishes it.
func published(kind, content string) message {
	return message{Header: header{Type: kind}, Content: json.RawMessage(content)}
}

// show writes outputs in short.
func show(outs []*output) string {
	var parts []string
	for _, o := range outs {
		switch o.kind {
		case "stream":
			parts = append(parts, fmt.Sprintf("%s:%q", o.name, o.text))
		case "error":
			parts = append(parts, "error:"+o.ename+":"+o.evalue)
		default:
			parts = append(parts, fmt.Sprintf("%s:%v", o.kind, o.data["text/plain"]))
		}
	}
	return strings.Join(parts, " ")
}

func TestRecorder(t *testing.T) {
	out := func(name, text string) message {
		return published("stream", fmt.Sprintf(`{"name":%q,"text":%q}`, name, text))
	}
	display := func(kind, id, text string) message {
		return published(kind, fmt.Sprintf(`{"data":{"text/plain":%q},"metadata":{},"transient":{"display_id":%q}}`, text, id))
	}
	for _, test := range []struct {
		name     string
		messages []message
		want     string
	}{
		{"nothing", nil, ""},
		{"streams merge by name", []message{out("stdout", "a\n"), out("stdout", "b\n"), out("stderr", "c\n"), out("stdout", "d\n")},
			`stdout:"a\nb\n" stderr:"c\n" stdout:"d\n"`},
		{"displays part streams", []message{out("stdout", "a\n"), display("display_data", "", "x"), out("stdout", "b\n")},
			`stdout:"a\n" display_data:x stdout:"b\n"`},
		{"an update changes its display", []message{display("display_data", "1", "x"), display("display_data", "2", "y"), display("update_display_data", "1", "z")},
			`display_data:z display_data:y`},
		{"an update of nothing shows nothing", []message{display("update_display_data", "1", "z")}, ""},
		{"one id shown twice", []message{display("display_data", "1", "x"), display("display_data", "1", "y"), display("update_display_data", "1", "z")},
			`display_data:z display_data:z`},
		{"result", []message{published("execute_result", `{"data":{"text/plain":"4"},"metadata":{},"execution_count":7}`)}, `execute_result:4`},
		{"clear", []message{out("stdout", "a\n"), published("clear_output", `{"wait":false}`), out("stdout", "b\n")}, `stdout:"b\n"`},
		{"clear when something comes", []message{out("stdout", "a\n"), published("clear_output", `{"wait":true}`), out("stdout", "b\n"), out("stdout", "c\n")}, `stdout:"b\nc\n"`},
		{"clear when nothing comes", []message{out("stdout", "a\n"), published("clear_output", `{"wait":true}`)}, `stdout:"a\n"`},
		{"error", []message{published("error", `{"ename":"ERROR","evalue":"no","traceback":["no"]}`)}, `error:ERROR:no`},
		{"other messages", []message{published("execute_input", `{}`), published("comm_open", `{}`)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{displays: map[string][]*output{}}
			for _, m := range test.messages {
				r.take(m)
			}
			if got := show(r.outputs); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestUpdateReachesAnEarlierCell(t *testing.T) {
	displays := map[string][]*output{}
	first, second := &recorder{displays: displays}, &recorder{displays: displays}
	first.take(published("display_data", `{"data":{"text/plain":"0%"},"transient":{"display_id":"bar"}}`))
	second.take(published("update_display_data", `{"data":{"text/plain":"100%"},"transient":{"display_id":"bar"}}`))
	if got := show(first.outputs) + show(second.outputs); got != "display_data:100%" {
		t.Error(got)
	}
}

func TestUnreadableMessageFailsTheCell(t *testing.T) {
	r := &recorder{}
	r.take(published("stream", `{"name":1}`))
	if reason := r.failed(reply{Status: "ok"}); !strings.Contains(reason, "unreadable stream message") {
		t.Errorf("reason %q", reason)
	}
}

func TestFailedMessage(t *testing.T) {
	for _, test := range []struct {
		message string
		special bool
		fails   bool
	}{
		{"exit status 1\n", true, true},
		{"exit status 127\n", true, true},
		{"^C\nsignal: interrupt\n", true, true},
		{"signal: segmentation fault (core dumped)\n", true, true},
		{"exit status 1\n", false, false},
		{"exit status 1", true, false},
		{"the child ended with exit status 1\n", true, false},
		{"line\nexit status 1\n", true, false},
		{"Cell contents written to \"f\".\n", true, false},
		{"\t- WARNING: replace rule for module \"m\"\n", true, false},
		{"epoch 3, loss 0.5\n", true, false},
		{"GoNB Error:\nwhat", false, true},
		{"display.Show: item 2: a chart with NaN\n", false, true},
		{"E1120 22:21:14.123456   12345 gonbui.go:213] failed to write to GoNB pipe", false, true},
		{"I1120 22:21:14.123456   12345 gonbui.go:213] all is well", false, false},
	} {
		if got := failedMessage(test.message, test.special) != ""; got != test.fails {
			t.Errorf("%q, special %t: fails %t, want %t", test.message, test.special, got, test.fails)
		}
	}
}

func TestHasSpecialLines(t *testing.T) {
	for source, want := range map[string]bool{
		"fmt.Println(1)":           false,
		"%%\nfmt.Println(1)":       false,
		"%main a b\nx()":           false,
		"%test\nfunc TestX() {}":   false,
		"!ls":                      true,
		"%%\n!ls":                  true,
		"//gonb:!ls":               true,
		"%env A b":                 true,
		"%%bash\nls":               true,
		"  !indented is Go":        false,
		"x := `\n%still special`":  true,
		"a %= b // not in front\n": false,
	} {
		if got := hasSpecialLines(source); got != want {
			t.Errorf("%q: %t, want %t", source, got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	for i := range 2000 {
		if n, err := fmt.Fprintf(&log, "line %d\n", i); n == 0 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := log.String(); len(got) != tailSize || !strings.HasSuffix(got, "line 1999\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-12):])
	}
}

func TestFailureSaysWhere(t *testing.T) {
	err := error(&failure{cell: 3, source: "%%\nf()\n", reason: "timed out", err: errTimeout})
	if want := "code cell 3 failed: timed out\nThe cell:\n    %%\n    f()"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, errTimeout) {
		t.Error("the cause is lost")
	}
}
