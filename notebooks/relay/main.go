// The relay command is the svmnb kernel as Jupyter starts it: GoNB, with its errors explained.
//
//	relay CONNECTION_FILE GONB [ARG...]
//
// One of the arguments of GoNB is the same connection file, which the relay replaces.
// Jupyter talks to GoNB directly, except on two channels: shell, by which Jupyter sends cells, and
// iopub, on which the kernel publishes outputs. GoNB opens them at other addresses. The relay copies
// what comes from either side, holds back the cells that GoNB must not get, and rewrites the outputs
// that package explain has something to say about.
package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svmnb/svmnb/notebooks/explain"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: relay CONNECTION_FILE GONB [ARG...]")
		os.Exit(2)
	}
	state, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "the relay of the kernel:", err)
		os.Exit(1)
	}
	os.Exit(state)
}

// run starts the kernel and returns its exit status.
func run(connection string, argv []string) (int, error) {
	info, err := readConnection(connection)
	if err != nil {
		return 0, err
	}
	outputs, err := net.Listen(info.network(), info.address(info.IOPub))
	if err != nil {
		return 0, err
	}
	defer outputs.Close()
	requests, err := net.Listen(info.network(), info.address(info.Shell))
	if err != nil {
		return 0, err
	}
	defer requests.Close()
	inner, err := info.elsewhere()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "svmnb-relay-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	// The name stays: GoNB reads Jupyter's id of the kernel in it.
	file := filepath.Join(dir, filepath.Base(connection))
	if err := inner.write(file); err != nil {
		return 0, err
	}
	for i, arg := range argv {
		argv[i] = strings.ReplaceAll(arg, connection, file) // Jupyter has put the name into all arguments
	}
	kernel := exec.Command(argv[0], argv[1:]...)
	kernel.Stdin, kernel.Stdout, kernel.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := kernel.Start(); err != nil {
		return 0, err
	}
	ended, told := make(chan struct{}), &session{}
	told.told.Interrupt = func() { _ = kernel.Process.Signal(os.Interrupt) } // Windows has no such signal
	go func() {
		for s := range signals {
			if s != os.Interrupt { // ctrl-C in a terminal reaches the kernel as well
				if kernel.Process.Signal(s) != nil { // Windows can only kill
					_ = kernel.Process.Kill()
				}
			}
		}
	}()
	go accept(outputs, func(client net.Conn) {
		serve(client, inner, inner.IOPub, told, ended, false)
	})
	go accept(requests, func(client net.Conn) {
		serve(client, inner, inner.Shell, told, ended, true)
	})
	err = kernel.Wait()
	close(ended)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil // a signal has the code -1
	}
	return 0, err
}

// connection is the content of a connection file. Values that the relay does not read stay
// as they are.
// https://jupyter-client.readthedocs.io/en/stable/kernels.html#connection-files
type connection struct {
	all             map[string]any
	Transport, IP   string
	Key             string
	SignatureScheme string `json:"signature_scheme"`
	IOPub           int    `json:"iopub_port"`
	Shell           int    `json:"shell_port"`
}

func readConnection(file string) (connection, error) {
	var c connection
	data, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := errors.Join(json.Unmarshal(data, &c), json.Unmarshal(data, &c.all)); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if c.Key != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("%s: messages are signed by %q, and only hmac-sha256 is known", file, c.SignatureScheme)
	}
	return c, nil
}

func (c connection) network() string {
	if c.Transport == "ipc" {
		return "unix"
	}
	return "tcp"
}

func (c connection) address(port int) string {
	if c.Transport == "ipc" {
		return fmt.Sprintf("%s-%d", c.IP, port)
	}
	return net.JoinHostPort(c.IP, fmt.Sprint(port))
}

// elsewhere returns the same connection with other addresses for iopub and shell, which are free.
func (c connection) elsewhere() (connection, error) {
	for _, port := range []*int{&c.IOPub, &c.Shell} {
		if c.Transport == "ipc" {
			*port += 100
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(c.IP, "0"))
		if err != nil {
			return c, err
		}
		defer l.Close() // both are open until both are chosen, so that they differ
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return c, nil
}

func (c connection) write(file string) error {
	c.all["iopub_port"], c.all["shell_port"] = c.IOPub, c.Shell
	data, err := json.Marshal(c.all)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

func accept(front net.Listener, serve func(client net.Conn)) {
	for {
		client, err := front.Accept()
		if err != nil {
			return
		}
		go serve(client)
	}
}

// serve connects a client to a port of the kernel until one of them leaves. The relay reads one
// direction, the requests of the client or else what the kernel publishes, and copies the other.
func serve(client net.Conn, to connection, port int, told *session, ended <-chan struct{}, requests bool) {
	defer client.Close()
	var kernel net.Conn
	for kernel == nil {
		var err error
		if kernel, err = net.Dial(to.network(), to.address(port)); err == nil {
			break
		}
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond): // the kernel is not ready yet
		}
	}
	defer kernel.Close()
	from, onto := kernel, client
	if requests {
		from, onto = client, kernel
	}
	go func() {
		_, _ = io.Copy(from, onto)
		from.Close()
	}()
	r := relay{from: bufio.NewReaderSize(from, 1<<16), to: onto, key: []byte(to.Key), told: told}
	_ = r.run()
}

// session is what the kernel has told. Each client is sent all messages, and the session
// takes each of them once.
type session struct {
	mu    sync.Mutex
	told  explain.Session
	taken map[string][]byte // contents of the last messages by their ids, as they are sent
	order []string          // these ids
}

// remembered is how many messages one client may be ahead of another.
const remembered = 4096

func (s *session) message(id, kind, request string, content []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent, ok := s.taken[id]; ok {
		return sent
	}
	sent := s.explained(kind, request, nil, content)
	if s.taken == nil {
		s.taken = map[string][]byte{}
	}
	s.taken[id] = sent
	if s.order = append(s.order, id); len(s.order) > remembered {
		delete(s.taken, s.order[0])
		s.order = s.order[1:]
	}
	return sent
}

// explained returns the content as it is if the explanation fails: it is not worth a kernel.
func (s *session) explained(kind, request string, metadata, content []byte) (sent []byte) {
	defer func() {
		if failed := recover(); failed != nil {
			fmt.Fprintln(os.Stderr, "the relay of the kernel:", failed)
			sent = content
		}
	}()
	if kind == "execute_request" {
		return s.told.Request(request, metadata, content)
	}
	return s.told.Message(kind, request, content)
}

// relay copies what one side of ZeroMQ sends to the other.
// https://rfc.zeromq.org/spec/23/
type relay struct {
	from *bufio.Reader
	to   io.Writer
	key  []byte
	told *session
}

// greeting is the length of what each side sends first.
const greeting = 64

// Flags of a frame.
const (
	flagMore    = 1 << iota // more frames of the message follow
	flagLong                // the length has 8 bytes
	flagCommand             // not a message
)

// longest is more than a message can have. A length beyond it is not believed.
const longest = 1 << 31

func (r *relay) run() error {
	if _, err := io.CopyN(r.to, r.from, greeting); err != nil {
		return err
	}
	var message [][]byte
	for {
		flags, body, err := r.frame()
		if err != nil {
			return err
		}
		if flags&flagCommand != 0 {
			if _, err := r.to.Write(appendFrame(nil, flags, body)); err != nil {
				return err
			}
			continue
		}
		if message = append(message, body); flags&flagMore != 0 {
			continue
		}
		var out []byte
		if !r.explain(message) {
			message = nil
			continue
		}
		for i, part := range message {
			flags := byte(flagMore)
			if i == len(message)-1 {
				flags = 0
			}
			out = appendFrame(out, flags, part)
		}
		if _, err := r.to.Write(out); err != nil {
			return err
		}
		message = nil
	}
}

func (r *relay) frame() (flags byte, body []byte, err error) {
	if flags, err = r.from.ReadByte(); err != nil {
		return 0, nil, err
	}
	var size uint64
	if flags&flagLong == 0 {
		short, err := r.from.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		size = uint64(short)
	} else if err := binary.Read(r.from, binary.BigEndian, &size); err != nil {
		return 0, nil, err
	}
	if size > longest {
		return 0, nil, fmt.Errorf("a frame of %d bytes", size)
	}
	var buffer bytes.Buffer // grows as bytes arrive, so a false length costs nothing
	buffer.Grow(int(min(size, 1<<20)))
	_, err = io.CopyN(&buffer, r.from, int64(size))
	return flags, buffer.Bytes(), err
}

func appendFrame(to []byte, flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append(append(to, flags&^flagLong, byte(len(body))), body...)
	}
	return append(binary.BigEndian.AppendUint64(append(to, flags|flagLong), uint64(len(body))), body...)
}

var delimiter = []byte("<IDS|MSG>")

// explain replaces the content of a message, and its signature, if there is something to
// explain. It reports whether the message should be sent at all. The frames are a topic, the delimiter, the signature, the header, the header of the
// request, metadata and the content.
// https://jupyter-client.readthedocs.io/en/stable/messaging.html#the-wire-protocol
func (r *relay) explain(frames [][]byte) (send bool) {
	at := 0
	for at < len(frames) && !bytes.Equal(frames[at], delimiter) {
		at++
	}
	if len(frames) < at+6 {
		return true
	}
	signature, parts := &frames[at+1], frames[at+2:at+6]
	var header struct {
		ID   string `json:"msg_id"`
		Type string `json:"msg_type"`
	}
	var request struct {
		ID string `json:"msg_id"`
	}
	if json.Unmarshal(parts[0], &header) != nil || json.Unmarshal(parts[1], &request) != nil {
		return true
	}
	var content []byte
	switch {
	case header.Type == "execute_request":
		content = r.told.explained(header.Type, header.ID, parts[2], parts[3])
	case explain.Reads(header.Type, parts[3]):
		content = r.told.message(header.ID, header.Type, request.ID, parts[3])
	default:
		return true
	}
	if content == nil || bytes.Equal(content, parts[3]) {
		return content != nil
	}
	parts[3] = content
	if len(r.key) > 0 {
		mac := hmac.New(sha256.New, r.key)
		for _, p := range parts {
			mac.Write(p)
		}
		*signature = []byte(hex.EncodeToString(mac.Sum(nil)))
	}
	return true
}
