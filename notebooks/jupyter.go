package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/svmnb/svmnb/notebooks/explain"
)

// header is the header of a Jupyter message. The runner reads only the id and the type.
type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// message is one message of the Jupyter protocol.
type message struct {
	Header  header
	Parent  header
	Content json.RawMessage
}

var delimiter = []byte("<IDS|MSG>")

// wire signs messages and checks signatures: HMAC-SHA256 over header, parent header,
// metadata and content.
// https://jupyter-client.readthedocs.io/en/stable/messaging.html#the-wire-protocol
type wire struct {
	key     []byte
	session string
}

func (w wire) sign(parts [][]byte) []byte {
	mac := hmac.New(sha256.New, w.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

func (w wire) encode(id, msgType string, content any) (zmq4.Msg, error) {
	head, err := json.Marshal(header{
		ID: id, Session: w.session, Username: "svmnb", Type: msgType, Version: "5.3",
		Date: time.Now().UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return zmq4.Msg{}, err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return zmq4.Msg{}, err
	}
	parts := [][]byte{head, []byte("{}"), []byte("{}"), body}
	return zmq4.NewMsgFrom(append([][]byte{delimiter, w.sign(parts)}, parts...)...), nil
}

func (w wire) decode(raw zmq4.Msg) (message, error) {
	frames := raw.Frames
	for len(frames) > 0 && !bytes.Equal(frames[0], delimiter) {
		frames = frames[1:] // skip routing identities and the topic of iopub
	}
	if len(frames) < 6 {
		return message{}, fmt.Errorf("jupyter: message of %d frames, want a delimiter, a signature and four parts", len(raw.Frames))
	}
	parts := frames[2:6]
	if !hmac.Equal(frames[1], w.sign(parts)) {
		return message{}, errors.New("jupyter: message with a wrong signature")
	}
	var m message
	if err := json.Unmarshal(parts[0], &m.Header); err != nil {
		return m, fmt.Errorf("jupyter: message header: %w", err)
	}
	if err := json.Unmarshal(parts[1], &m.Parent); err != nil {
		return m, fmt.Errorf("jupyter: parent header: %w", err)
	}
	m.Content = parts[3]
	return m, nil
}

// client is a running kernel and the four channels to it.
type client struct {
	wire
	cmd    *exec.Cmd
	log    tail          // the end of the kernel's log
	dir    string        // connection file, sockets and the kernel's temporary files
	dead   chan struct{} // closed when the process has ended
	cancel context.CancelFunc
	state  error // how it ended; valid after dead is closed

	shell, control, stdin, iopub zmq4.Socket
	replies, inputs, events      chan message
	told                         explain.Session // what iopub has told, with its errors explained
}

// startTimeout limits the time from the start of the kernel's process to its first answer.
// GoNB needs 0.3 s, and much more on a busy machine that has just started.
const startTimeout = 60 * time.Second

// interruptGrace is the time for an interrupted cell to end before the kernel is killed.
// GoNB itself kills the process of the cell after 5 s.
const interruptGrace = 8 * time.Second

// startKernel starts argv, with {connection_file} replaced, in the folder work. It returns
// when the kernel answers on all channels. If limits is not nil, the kernel runs below a
// guard and may write only into work, its own temporary folder, and the folders in limits.
func startKernel(ctx context.Context, argv, env []string, work string, limits *confinement) (_ *client, err error) {
	dir, err := os.MkdirTemp("", "svmnb-")
	if err != nil {
		return nil, err
	}
	// When this context ends, zmq4 closes the sockets.
	sockets, cancel := context.WithCancel(context.Background())
	c := &client{
		wire: wire{key: []byte(rand.Text()), session: rand.Text()},
		dir:  dir, dead: make(chan struct{}), cancel: cancel,
		replies: make(chan message, 64), inputs: make(chan message, 4), events: make(chan message, 1024),
	}
	defer func() {
		if err != nil {
			c.kill()
		}
	}()

	// The name must not match kernel-<hex>.json. GoNB would take <hex> for the kernel id of
	// a front end, and widgets would wait for a browser.
	file := filepath.Join(dir, "connection.json")
	address, err := c.writeConnectionFile(file)
	if err != nil {
		close(c.dead)
		return nil, err
	}
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = strings.ReplaceAll(a, "{connection_file}", file)
	}
	if limits != nil {
		own := *limits
		own.Writable = append([]string{work, dir}, own.Writable...)
		limits = &own
		if args, err = own.guarded(args); err != nil {
			close(c.dead)
			return nil, err
		}
	}
	c.cmd = exec.Command(args[0], args[1:]...)
	c.cmd.Dir = work
	c.cmd.Env = append(env, "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir, "GONB_JUPYTER_KERNEL_ID=")
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	c.cmd.WaitDelay = time.Second
	ownGroup(c.cmd)
	if limits != nil {
		limits.confine(c.cmd)
	}
	started := make(chan error)
	go func() {
		// The thread that starts the process must live as long as the process. Otherwise
		// the kernel would receive the signal that its parent has died.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.state = c.cmd.Wait()
		close(c.dead)
		cancel()
	}()
	if err := <-started; err != nil {
		close(c.dead)
		return nil, fmt.Errorf("starting the kernel: %w", err)
	}

	ctx, stop := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the kernel did not answer within %s", startTimeout))
	defer stop()
	giveUp := context.AfterFunc(ctx, cancel)
	defer giveUp()
	options := []zmq4.Option{
		zmq4.WithID(zmq4.SocketIdentity(c.session)), // GoNB answers control requests on the shell socket
		zmq4.WithDialerRetry(5 * time.Millisecond), zmq4.WithDialerMaxRetries(-1),
		zmq4.WithLogger(log.New(io.Discard, "", 0)),
	}
	c.iopub = zmq4.NewSub(sockets, options...)
	c.shell = zmq4.NewDealer(sockets, options...)
	c.control = zmq4.NewDealer(sockets, options...)
	c.stdin = zmq4.NewDealer(sockets, options...)
	for _, s := range []struct {
		socket zmq4.Socket
		name   string
		into   chan message
	}{
		{c.iopub, "iopub", c.events}, {c.shell, "shell", c.replies}, {c.control, "control", c.replies}, {c.stdin, "stdin", c.inputs},
	} {
		if err := s.socket.Dial(address[s.name]); err != nil {
			return nil, c.startError(ctx, err)
		}
		if s.name == "iopub" {
			if err := s.socket.SetOption(zmq4.OptionSubscribe, ""); err != nil {
				return nil, c.startError(ctx, err)
			}
		}
		go c.receive(s.socket, s.into)
	}
	if err := c.handshake(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// startError returns the reason of a failed start (death, timeout) rather than its symptom
// on a socket.
func (c *client) startError(ctx context.Context, err error) error {
	select {
	case <-c.dead:
		return c.deathError()
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("connecting to the kernel: %w", err)
}

// writeConnectionFile chooses the addresses: Unix sockets, which other users cannot reach,
// or loopback ports if the system has no Unix sockets.
func (c *client) writeConnectionFile(file string) (map[string]string, error) {
	names := []string{"shell", "control", "stdin", "iopub", "hb"}
	info := map[string]any{"key": string(c.key), "signature_scheme": "hmac-sha256"}
	address := map[string]string{}
	if prefix := filepath.Join(c.dir, "s"); runtime.GOOS != "windows" && len(prefix) < 90 { // the path of a Unix socket has at most 104 bytes
		info["transport"], info["ip"] = "ipc", prefix
		for i, name := range names {
			info[name+"_port"] = i + 1
			address[name] = fmt.Sprintf("ipc://%s-%d", prefix, i+1)
		}
	} else {
		info["transport"], info["ip"] = "tcp", "127.0.0.1"
		for _, name := range names {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			defer l.Close() // keep all five open until all are chosen, so that they differ
			info[name+"_port"] = l.Addr().(*net.TCPAddr).Port
			address[name] = "tcp://" + l.Addr().String()
		}
	}
	data, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	return address, os.WriteFile(file, data, 0o600)
}

func (c *client) receive(s zmq4.Socket, into chan<- message) {
	for {
		raw, err := s.Recv()
		if err != nil {
			return
		}
		m, err := c.decode(raw)
		if err != nil {
			fmt.Fprintln(&c.log, err)
			continue
		}
		if s == c.iopub {
			m.Content = c.told.Message(m.Header.Type, m.Parent.ID, m.Content)
		}
		select {
		case into <- m:
		case <-c.dead:
			select { // messages from before the end may still be read
			case into <- m:
			default:
				return
			}
		}
	}
}

// handshake asks for the kernel's info until both the answer and the status message arrive.
// A subscriber of ZeroMQ misses messages that are published before its subscription is
// known.
func (c *client) handshake(ctx context.Context) error {
	replied, heard := false, false
	for {
		if err := c.send(c.shell, rand.Text(), "kernel_info_request", struct{}{}); err != nil {
			return c.startError(ctx, err)
		}
		again := time.After(50 * time.Millisecond)
	wait:
		for {
			select {
			case m := <-c.replies:
				replied = replied || m.Header.Type == "kernel_info_reply"
			case m := <-c.events:
				heard = heard || m.Header.Type == "status"
			case <-again:
				break wait
			case <-c.dead:
				return c.deathError()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if replied && heard {
				return nil
			}
		}
	}
}

func (c *client) send(s zmq4.Socket, id, msgType string, content any) error {
	m, err := c.encode(id, msgType, content)
	if err != nil {
		return err
	}
	return s.SendMulti(m)
}

// reply is the answer to an execute_request.
type reply struct {
	Status         string `json:"status"`
	ExecutionCount int    `json:"execution_count"`
}

// Errors of execute.
var (
	errTimeout = errors.New("timed out")                                   // interrupted; the kernel is alive
	errKilled  = errors.New("timed out and did not stop when interrupted") // the kernel has been killed
	errInput   = errors.New("asks for input, which nobody can give here")  // interrupted; the kernel is alive
	errDead    = errors.New("the kernel died")                             // the kernel has ended
)

// execute runs code as the request id. It calls on with every message that the kernel
// publishes until it is idle again, including late messages of earlier requests. The error
// is nil if the kernel answered in time, even if the code failed.
func (c *client) execute(ctx context.Context, id, code string, timeout time.Duration, on func(message)) (reply, error) {
	var answer reply
	request, err := json.Marshal(map[string]any{
		"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": true,
	})
	if err != nil {
		return answer, err
	}
	if err := c.send(c.shell, id, "execute_request", json.RawMessage(c.told.Request(id, nil, request))); err != nil {
		return answer, c.startError(ctx, err)
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var trouble error
	interrupt := func(why error) {
		if trouble == nil {
			trouble = why
			_ = c.send(c.control, rand.Text(), "interrupt_request", struct{}{})
			timer.Reset(interruptGrace)
		}
	}
	replied, idle := false, false
	for !replied || !idle {
		select {
		case m := <-c.events:
			if m.Header.Type == "status" {
				var s struct {
					State string `json:"execution_state"`
				}
				if m.Parent.ID == id && json.Unmarshal(m.Content, &s) == nil && s.State == "idle" {
					idle = true
				}
				continue
			}
			on(m)
		case m := <-c.replies:
			if m.Parent.ID == id && m.Header.Type == "execute_reply" {
				if err := json.Unmarshal(m.Content, &answer); err != nil {
					return answer, fmt.Errorf("jupyter: execute_reply: %w", err)
				}
				replied = true
			}
		case <-c.inputs:
			interrupt(errInput)
		case <-timer.C:
			if trouble != nil {
				c.kill()
				if errors.Is(trouble, errTimeout) {
					trouble = errKilled
				}
				return answer, trouble
			}
			interrupt(errTimeout)
		case <-ctx.Done():
			c.kill()
			return answer, context.Cause(ctx)
		case <-c.dead:
			c.drain(on)
			return answer, c.deathError()
		}
	}
	return answer, trouble
}

// drain passes on messages that are still arriving, for a moment.
func (c *client) drain(on func(message)) {
	for {
		select {
		case m := <-c.events:
			on(m)
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// deathError describes a kernel that ended by itself.
func (c *client) deathError() error {
	state := "exit status 0"
	if c.state != nil {
		state = c.state.Error()
	}
	if words := strings.TrimSpace(c.log.String()); words != "" {
		return fmt.Errorf("%w (%s); its last words:\n%s", errDead, state, words)
	}
	return fmt.Errorf("%w (%s)", errDead, state)
}

// close asks the kernel to shut down, and kills it if it does not.
func (c *client) close() {
	_ = c.send(c.control, rand.Text(), "shutdown_request", map[string]any{"restart": false})
	select {
	case <-c.dead:
	case <-time.After(2 * time.Second):
	}
	c.kill()
}

// kill ends the kernel and every process that it started, and removes their files.
func (c *client) kill() {
	if c.cmd != nil && c.cmd.Process != nil {
		killTree(c.cmd)
	}
	<-c.dead
	c.cancel()
	for _, s := range []zmq4.Socket{c.shell, c.control, c.stdin, c.iopub} {
		if s != nil {
			_ = s.Close()
		}
	}
	_ = os.RemoveAll(c.dir)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - tailSize; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
