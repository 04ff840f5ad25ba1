package fetch

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/svmnb/svmnb/datasets"
)

// answer is a server that sends the same to everybody.
type answer struct {
	status int
	length int64
	body   []byte
}

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Status: http.StatusText(a.status), ContentLength: a.length, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// FuzzFetch: whatever a server sends, under whatever name and with whatever checksum
// beside the file, it is a data set that comes again from the cache, or an error after
// which the folder has no file that was not there before.
func FuzzFetch(f *testing.F) {
	f.Add("few", []byte(small), int64(len(small)), 200, "", []byte(nil))
	f.Add("few", []byte(small), int64(-1), 200, "00", []byte(nil))
	f.Add("..", []byte("<html>"), int64(6), 200, "", []byte("00\n"))
	f.Add("a/b", []byte(small), int64(1<<40), 404, "", []byte(nil))
	f.Add("few.sha256", bytes.Repeat([]byte(small), 10), int64(1), 200, "", []byte(nil))
	f.Fuzz(func(t *testing.T, name string, body []byte, length int64, status int, sum string, note []byte) {
		top := t.TempDir()
		dir := filepath.Join(top, "data")
		if note != nil {
			if os.Mkdir(dir, 0o755) != nil || os.WriteFile(filepath.Join(dir, "few.sha256"), note, 0o644) != nil {
				t.Fatal("no folder")
			}
		}
		s := Set{Name: name, URL: "http://localhost/few", SHA256: sum, Most: 1000, Read: func(r io.Reader) (*datasets.Dataset, error) { return datasets.ReadLIBSVMSparse(r, 0) }}
		get := Fetcher{Dir: dir, Client: &http.Client{Transport: answer{status, length, body}}}
		d, err := get.Fetch(t.Context(), s)
		files := map[string]bool{}
		_ = filepath.WalkDir(top, func(path string, e os.DirEntry, _ error) error {
			if !e.IsDir() {
				files[path] = true
			}
			return nil
		})
		delete(files, filepath.Join(dir, "few.sha256"))
		if err != nil {
			e := (*Error)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			delete(files, filepath.Join(dir, "few")) // pinned otherwise: its owner is told to remove it
			if len(files) > 0 {
				t.Fatalf("after %v the folder has %v", err, files)
			}
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		get.Client = &http.Client{Transport: answer{500, 0, nil}}
		again, err := get.Fetch(t.Context(), s)
		if err != nil || again.String() != d.String() {
			t.Fatalf("the second time it is %v, %v", again, err)
		}
	})
}

// A page in place of the data is not kept for the data.
func TestUnreadableIsNotKept(t *testing.T) {
	dir := t.TempDir()
	s := Set{Name: "few", URL: "http://localhost/few", Most: 1000, Read: sparse(3)}
	page := answer{200, 6, []byte("<html>")}
	if _, err := (Fetcher{Dir: dir, Client: &http.Client{Transport: page}}).Fetch(t.Context(), s); err == nil {
		t.Fatal("a page is no data set")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("the folder has %v", left)
	}
	page.body, page.length = []byte(small), int64(len(small))
	if _, err := (Fetcher{Dir: dir, Client: &http.Client{Transport: page}}).Fetch(t.Context(), s); err != nil {
		t.Error(err)
	}
}
