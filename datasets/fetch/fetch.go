// Package fetch downloads public data sets from their publishers and caches them. It is
// separate because it is the only package for data that links net/http.
//
//	data, err := fetch.Get(ctx, "a9a")
//
// Files are kept in the folder svmnb/data of the user's cache folder, or in the folder data of
// the folder that the environment variable SVMNB_CACHE names. If this package knows the
// SHA-256 of a file, the file must have it. For other files the first fetch writes the
// checksum beside the file, and the file must match it whenever it is read again. This detects
// damage and change, but not a file that was already wrong at the first fetch. A file that you
// put there yourself is treated in the same way.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/wholefile"
)

// Set is a data set that is published as one file.
type Set struct {
	Name    string
	About   string // points × features, and a description
	URL     string // address of the file
	SHA256  string // of the file, in hexadecimal; "" if it is not pinned
	Most    int64  // largest size of the file in bytes
	Source  string
	Licence string
	Read    func(r io.Reader) (*datasets.Dataset, error)
}

// Error says why a data set is not available, and what to do.
type Error struct {
	Set  string
	URL  string // "" for an unknown set
	Path string // where you may put the file yourself
	Msg  string // what is wrong
	Err  error  // the cause, if it is another error
}

func (e *Error) Error() string {
	s := "fetch: " + e.Set + ": " + e.Msg
	if e.URL != "" {
		s += fmt.Sprintf("; or get %s by other means and put it at %s", e.URL, e.Path)
	}
	return s
}

// Unwrap returns the cause, such as the error of the context.
func (e *Error) Unwrap() error { return e.Err }

// Fetcher downloads data sets. [Get] uses the zero value with Progress on os.Stderr.
type Fetcher struct {
	Dir      string        // folder of the files; default see the package comment
	Client   *http.Client  // default http.DefaultClient
	Timeout  time.Duration // for one file; default 10 minutes
	Progress io.Writer     // gets lines about the progress of a download; nil means none
}

// Get returns the data set with this name, one of [Sets]. It reads it from the cache, or
// downloads it first. The error is an *[Error], or that of the reader of its file.
func Get(ctx context.Context, name string) (*datasets.Dataset, error) {
	return Fetcher{Progress: os.Stderr}.Get(ctx, name)
}

// Sets returns all known data sets, sorted by name.
func Sets() []Set { return slices.Clone(sets) }

// Get is the function [Get] with the settings of f.
func (f Fetcher) Get(ctx context.Context, name string) (*datasets.Dataset, error) {
	i := slices.IndexFunc(sets, func(s Set) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range sets {
			names = append(names, s.Name)
		}
		return nil, &Error{Set: name, Msg: "there is no such set; there are " + strings.Join(names, ", ")}
	}
	return f.Fetch(ctx, sets[i])
}

// Fetch is Get for a data set of your own.
func (f Fetcher) Fetch(ctx context.Context, s Set) (*datasets.Dataset, error) {
	dir := f.Dir
	if dir == "" {
		var err error
		if dir, err = cacheDir(); err != nil {
			return nil, &Error{s.Name, s.URL, "", "there is no cache folder; name one by Dir or the environment variable SVMNB_CACHE", err}
		}
	}
	path := filepath.Join(dir, s.Name)
	fail := func(err error, msg string, args ...any) error {
		return &Error{s.Name, s.URL, path, fmt.Sprintf(msg, args...), err}
	}
	if name := filepath.Base(s.Name); s.Name == "" || s.Name != name || name == "." || name == ".." || strings.HasSuffix(name, ".sha256") || s.Read == nil {
		return nil, fail(nil, "a set needs a reader, and a name that can be that of a file: without a folder in it, and without .sha256 at its end")
	}
	_, err := os.Stat(path)
	fresh := errors.Is(err, os.ErrNotExist)
	if fresh {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fail(err, "%v", err)
		}
		if err := f.download(ctx, s, path); err != nil {
			return nil, fail(err, "%v", err)
		}
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fail(err, "%v", err)
	}
	defer in.Close()
	sum, err := sumOf(in)
	if err != nil {
		return nil, fail(err, "%v", err)
	}
	if err := pinned(s, path, sum); err != nil {
		return nil, fail(err, "%v", err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, fail(err, "%v", err)
	}
	d, err := s.Read(in)
	if err != nil && fresh { // the file may be, for example, a page that asks for a password
		_, _ = os.Remove(path), os.Remove(path+".sha256")
		return nil, fail(err, "what was received cannot be read and was thrown away: %v", err)
	}
	if err != nil {
		return nil, err
	}
	d.Name, d.Source, d.Licence = s.Name, s.Source, s.Licence
	return d, nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv("SVMNB_CACHE"); dir != "" {
		return filepath.Join(dir, "data"), nil
	}
	base, err := os.UserCacheDir()
	return filepath.Join(base, "svmnb", "data"), err
}

func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}

// pinned compares the checksum of a file with that of the set, or with that of the first
// fetch.
func pinned(s Set, path, sum string) error {
	note := path + ".sha256"
	want := s.SHA256
	if want == "" {
		text, err := os.ReadFile(note)
		if errors.Is(err, os.ErrNotExist) {
			return wholefile.Write(note, func(w io.Writer) error { _, err := fmt.Fprintln(w, sum); return err })
		}
		if err != nil {
			return err
		}
		want = strings.TrimSpace(string(text))
	}
	if sum != want {
		return fmt.Errorf("the file %s has the SHA-256 %s and not %s; remove it to fetch it again, and %s too where the publisher has changed it", path, sum, want, filepath.Base(note))
	}
	return nil
}

func (f Fetcher) download(ctx context.Context, s Set, path string) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.Timeout, 10*time.Minute))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return err
	}
	client := f.Client
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("it cannot be fetched: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s", res.Status)
	}
	if res.ContentLength > s.Most {
		return fmt.Errorf("the file has %d bytes and %d were expected at most", res.ContentLength, s.Most)
	}
	return wholefile.Write(path, func(w io.Writer) error {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, h, &progress{of: s.Name, all: res.ContentLength, to: f.Progress}), io.LimitReader(res.Body, s.Most+1))
		switch sum := hex.EncodeToString(h.Sum(nil)); {
		case err != nil:
			return fmt.Errorf("it broke off after %d bytes: %w", n, err)
		case n > s.Most:
			return fmt.Errorf("the file has more than the %d bytes that were expected at most", s.Most)
		case s.SHA256 != "" && sum != s.SHA256:
			return fmt.Errorf("what was received has the SHA-256 %s and not %s, and was thrown away", sum, s.SHA256)
		}
		return nil
	})
}

// progress writes at most one line a second, and a last line at the end.
type progress struct {
	of        string
	all, done int64 // bytes; all is −1 if the size is not known
	last      time.Time
	to        io.Writer
}

func (p *progress) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	if p.to != nil && (p.done == p.all || time.Since(p.last) > time.Second) {
		p.last = time.Now()
		if p.all > 0 {
			fmt.Fprintf(p.to, "fetch: %s: %d of %d kB\n", p.of, p.done/1000, p.all/1000)
		} else {
			fmt.Fprintf(p.to, "fetch: %s: %d kB\n", p.of, p.done/1000)
		}
	}
	return len(b), nil
}
