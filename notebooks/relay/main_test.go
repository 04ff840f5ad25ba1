package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

func sign(key string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		mac.Write([]byte(p))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// published is what a kernel sends: a greeting, a command, and messages.
func published(key string, messages ...[2]string) []byte {
	stream := bytes.Repeat([]byte{7}, greeting)
	stream = appendFrame(stream, flagCommand, []byte("\x05READY"))
	for i, m := range messages {
		parts := []string{`{"msg_id":"` + string(rune('a'+i)) + `","msg_type":"` + m[0] + `"}`, `{"msg_id":"asked"}`, "{}", m[1]}
		frames := append([]string{"topic", string(delimiter), sign(key, parts...)}, parts...)
		for j, f := range frames {
			flags := byte(flagMore)
			if j == len(frames)-1 {
				flags = 0
			}
			stream = appendFrame(stream, flags, []byte(f))
		}
	}
	return stream
}

var told = [][2]string{
	{"execute_input", `{"code":"%%\nx := 3","execution_count":1}`},
	{"display_data", `{"data":{"text/plain":"` + strings.Repeat("large ", 100) + `"}}`},
	{"error", `{"ename":"ERROR","evalue":"x","traceback":["Cell[1]: Line 2\nx := 3\n^\n\ndeclared and not used: x"]}`},
	{"status", `{"execution_state":"idle"}`},
}

func relayed(t *testing.T, s *session, key string, stream []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	r := relay{from: bufio.NewReader(bytes.NewReader(stream)), to: &out, key: []byte(key), told: s}
	if err := r.run(); err == nil || err.Error() != "EOF" {
		t.Errorf("the relay ends with %v", err)
	}
	return out.Bytes()
}

// All bytes pass as they are, except those of an error.
func TestOnlyErrorsChange(t *testing.T) {
	const key = "secret"
	whole := published(key, told[0], told[1], told[3])
	if out := relayed(t, &session{}, key, whole); !bytes.Equal(out, whole) {
		t.Error("messages without an error have changed")
	}
	out := relayed(t, &session{}, key, published(key, told...))
	r := relay{from: bufio.NewReader(bytes.NewReader(out[greeting:]))}
	var frames [][]byte
	for {
		_, body, err := r.frame()
		if err != nil {
			break
		}
		frames = append(frames, body)
	}
	if len(frames) != 1+4*7 {
		t.Fatalf("%d frames", len(frames))
	}
	report := frames[1+2*7:][:7]
	if got, want := string(report[2]), sign(key, string(report[3]), string(report[4]), string(report[5]), string(report[6])); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	var content struct {
		Ename, Evalue string
		Traceback     []string
	}
	if err := json.Unmarshal(report[6], &content); err != nil {
		t.Fatal(err)
	}
	if content.Ename != "ERROR" || !strings.HasPrefix(content.Evalue, "Cell [1], line 2: Nothing uses x") || len(content.Traceback) != 1 {
		t.Errorf("content %+v", content)
	}
}

// A cell that the kernel must not get is replaced in the request, which is signed again; all other
// requests pass as they are.
func TestRefusedRequests(t *testing.T) {
	const key = "secret"
	asked := [][2]string{
		{"kernel_info_request", "{}"},
		{"execute_request", `{"code":"%%\nfmt.Println(1)","silent":false}`},
		{"comm_msg", `{"data":{"code":"%%\n%%"}}`},
	}
	fine := published(key, asked...)
	s := &session{}
	if out := relayed(t, s, key, fine); !bytes.Equal(out, fine) {
		t.Error("requests that are not refused have changed")
	}
	out := relayed(t, s, key, published(key, [2]string{"execute_request", `{"code":"%%\n%%\nx()","silent":false,"store_history":true}`}))
	r := relay{from: bufio.NewReader(bytes.NewReader(out[greeting:]))}
	var frames []string
	for {
		_, body, err := r.frame()
		if err != nil {
			break
		}
		frames = append(frames, string(body))
	}
	report := frames[len(frames)-7:]
	if report[2] != sign(key, report[3:]...) {
		t.Error("the request is not signed anew")
	}
	var content map[string]any
	if err := json.Unmarshal([]byte(report[6]), &content); err != nil || content["code"] == nil || strings.Contains(content["code"].(string), "%%") || content["store_history"] != true {
		t.Errorf("the kernel gets %v, %v", content, err)
	}
	// The kernel answers, and its answers speak of the cell as it was written.
	answer := func(kind, content string) string {
		return string(s.message(kind, kind, "a", []byte(content))) // the id of the request
	}
	if input := answer("execute_input", `{"code":"stand-in","execution_count":1}`); !strings.Contains(input, `%%\n%%`) {
		t.Errorf("Jupyter shows %s", input)
	}
	if report := answer("error", `{"ename":"ERROR","evalue":"x","traceback":["x"]}`); !strings.Contains(report, "Cell [1], line 2: A cell has at most one line %%") {
		t.Errorf("Jupyter reports %s", report)
	}
}

// What a cell prints without an end does not reach Jupyter.
func TestFloodIsLeftOut(t *testing.T) {
	s, stopped := &session{}, 0
	s.told.Interrupt = func() { stopped++ }
	flood := []([2]string){told[0]}
	line, err := json.Marshal(map[string]string{"name": "stdout", "text": strings.Repeat("0\n", 1<<15)})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		flood = append(flood, [2]string{"stream", string(line)})
	}
	flood = append(flood, told[3])
	if out := relayed(t, s, "", published("", flood...)); stopped != 1 || bytes.Count(out, []byte("stdout")) != 0 || !bytes.Contains(out, []byte("idle")) {
		t.Errorf("stopped %d times, %d outputs, idle %t", stopped, bytes.Count(out, []byte("stdout")), bytes.Contains(out, []byte("idle")))
	}
}

// Two clients are sent the same, although the session takes each message once.
func TestClientsAreSentTheSame(t *testing.T) {
	s := &session{}
	stream := published("", told...)
	first := relayed(t, s, "", stream)
	if second := relayed(t, s, "", stream); !bytes.Equal(first, second) {
		t.Error("the second client is sent other messages")
	}
	for i := range 3 * remembered {
		s.message(strings.Repeat("x", i%7)+string(rune(i)), "stream", "asked", []byte(`{"name":"stderr","text":"x"}`))
	}
	if len(s.taken) > remembered || len(s.order) > remembered {
		t.Errorf("%d messages are remembered", len(s.taken))
	}
}

func FuzzRelay(f *testing.F) {
	f.Add(published("", told...))
	f.Add(published("", told[0])[:greeting+30])
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out bytes.Buffer
		r := relay{from: bufio.NewReader(bytes.NewReader(stream)), to: &out, told: &session{}}
		if err := r.run(); err == nil {
			t.Error("a stream without an end")
		}
	})
}
