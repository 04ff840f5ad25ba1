package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const small = "+1 1:0.5 3:-2\n-1 2:1000\n"

// served is a set whose file a handler sends, and how often it was asked for.
func served(t *testing.T, sum string, handler http.HandlerFunc) (s Set, asked *int) {
	asked = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return Set{Name: "few", URL: server.URL + "/few", SHA256: sum, Most: 100, Source: "a server", Licence: "free", Read: sparse(3)}, asked
}

func send(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, small) }

func rightSum(t *testing.T) string {
	sum, err := sumOf(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestFetch(t *testing.T) {
	for _, sum := range []string{rightSum(t), ""} {
		s, asked := served(t, sum, send)
		var told bytes.Buffer
		f := Fetcher{Dir: filepath.Join(t.TempDir(), "new", "folder"), Progress: &told}
		for range 3 {
			d, err := f.Fetch(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if d.N() != 2 || d.D() != 3 || d.Sparse == nil || d.Name != "few" || d.Source != "a server" || d.Licence != "free" {
				t.Errorf("%v", d)
			}
		}
		if *asked != 1 || told.String() != "fetch: few: 0 of 0 kB\n" {
			t.Errorf("asked %d times; told %q", *asked, told.String())
		}
		path := filepath.Join(f.Dir, "few")
		note, err := os.ReadFile(path + ".sha256")
		if (sum == "") != (err == nil) || err == nil && strings.TrimSpace(string(note)) != rightSum(t) {
			t.Errorf("the note is %q, %v", note, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(small, "1000", "1001", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = f.Fetch(t.Context(), s)
		wantError(t, err, s, f.Dir, "remove it to fetch it again")
		left, _ := os.ReadDir(f.Dir)
		if want := map[bool]int{true: 2, false: 1}[sum == ""]; len(left) != want {
			t.Errorf("the folder has %v", left)
		}
	}
}

func wantError(t *testing.T, err error, s Set, dir, says string) {
	t.Helper()
	e := (*Error)(nil)
	if !errors.As(err, &e) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), s.URL) || e.Path != filepath.Join(dir, s.Name) || !strings.Contains(err.Error(), e.Path) {
		t.Errorf("%v; want %q, the URL and the place", err, says)
	}
}

// What goes wrong on the way leaves no file behind, and the next attempt may succeed.
func TestFailures(t *testing.T) {
	for says, handler := range map[string]http.HandlerFunc{
		"404 Not Found":             http.NotFound,
		"503 Service":               func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"has the SHA-256":           func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.ToUpper(small+"x")) },
		"has 1000 bytes and 100 we": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000") },
		"more than the 100 bytes": func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush() // no length is sent
			fmt.Fprint(w, strings.Repeat(small, 50))
		},
		"it broke off after": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "90")
			fmt.Fprint(w, small)
		},
		"stopped after 10 redirects": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/few", http.StatusFound) },
		"deadline": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		broken := true
		s, _ := served(t, rightSum(t), func(w http.ResponseWriter, r *http.Request) {
			if broken {
				handler(w, r)
				return
			}
			send(w, r)
		})
		f := Fetcher{Dir: t.TempDir()}
		if says == "deadline" {
			f.Timeout = 50 * time.Millisecond
		}
		_, err := f.Fetch(t.Context(), s)
		wantError(t, err, s, f.Dir, says)
		if left, _ := os.ReadDir(f.Dir); len(left) != 0 {
			t.Errorf("%s: it left %v", says, left)
		}
		broken, f.Timeout = false, 0
		if _, err := f.Fetch(t.Context(), s); err != nil {
			t.Errorf("%s: afterwards %v", says, err)
		}
	}
}

func TestRedirect(t *testing.T) {
	s, asked := served(t, rightSum(t), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/few" {
			http.Redirect(w, r, "/moved", http.StatusMovedPermanently)
			return
		}
		send(w, r)
	})
	if d, err := (Fetcher{Dir: t.TempDir()}).Fetch(t.Context(), s); err != nil || d.N() != 2 || *asked != 2 {
		t.Error(d, err, *asked)
	}
}

func TestOffline(t *testing.T) {
	s, _ := served(t, rightSum(t), send)
	server := httptest.NewServer(nil)
	server.Close()
	s.URL = server.URL + "/few"
	f := Fetcher{Dir: t.TempDir()}
	_, err := f.Fetch(t.Context(), s)
	wantError(t, err, s, f.Dir, "cannot be fetched")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Fetch(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "few"), []byte(small), 0o600); err != nil { // by hand
		t.Fatal(err)
	}
	if d, err := f.Fetch(t.Context(), s); err != nil || d.N() != 2 {
		t.Error(d, err)
	}
	if _, err := Get(t.Context(), "nothing"); !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "svmguide1") {
		t.Error(err)
	}
	s.Name = "../few"
	if _, err := f.Fetch(t.Context(), s); !errors.As(err, new(*Error)) {
		t.Error(err)
	}
}

func TestSets(t *testing.T) {
	if !slices.IsSortedFunc(Sets(), func(a, b Set) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, s := range Sets() {
		if !strings.HasPrefix(s.URL, "https://") || s.Most < 1 || s.About == "" || s.Source == "" || s.Licence == "" || s.Read == nil || s.SHA256 != "" && len(s.SHA256) != 64 {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
}

// The file of heart_scale is the one whose checksum is in the table.
func TestPinned(t *testing.T) {
	dir := os.Getenv("SVMNB_DATA")
	text, err := os.ReadFile(filepath.Join(dir, "heart_scale"))
	if dir == "" || err != nil {
		t.Skip("no heart_scale in the folder that SVMNB_DATA names")
	}
	t.Setenv("SVMNB_CACHE", t.TempDir())
	place := filepath.Join(os.Getenv("SVMNB_CACHE"), "data")
	if err := errors.Join(os.MkdirAll(place, 0o700), os.WriteFile(filepath.Join(place, "heart_scale"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	d, err := Get(t.Context(), "heart_scale")
	if err != nil || d.N() != 270 || d.D() != 13 || d.Licence != "BSD-3-Clause" {
		t.Error(d, err)
	}
}
