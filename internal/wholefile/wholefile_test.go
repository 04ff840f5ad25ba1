package wholefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string) error {
	t.Helper()
	return Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s has %.40q, %v; want %.40q", path, text, err, want)
	}
}

// stray returns the files of a folder that are not the ones that are expected.
func stray(t *testing.T, dir string, expected ...string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains("\n"+strings.Join(expected, "\n")+"\n", "\n"+e.Name()+"\n") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for _, text := range []string{"first", "", "second"} {
		if err := put(t, file, text); err != nil {
			t.Fatal(err)
		}
		holds(t, file, text)
	}
	if s := stray(t, dir, "file"); s != nil {
		t.Errorf("stray files %q", s)
	}
	long := filepath.Join(dir, strings.Repeat("n", 255))
	if err := put(t, long, "x"); err != nil {
		t.Errorf("a name as long as names may be: %v", err)
	}
}

// A writer that fails after any number of bytes leaves the old file, and no other.
func TestWriteFails(t *testing.T) {
	full := errors.New("no space left on device")
	for _, old := range []string{"", "the old file"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		if old != "" {
			if err := put(t, file, old); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 40 {
			err := Write(file, func(w io.Writer) error {
				if _, err := w.Write(bytes.Repeat([]byte("n"), k)); err != nil {
					return err
				}
				return full
			})
			if !errors.Is(err, full) || !strings.Contains(err.Error(), file) {
				t.Errorf("after %d bytes: %v", k, err)
			}
			if old != "" {
				holds(t, file, old)
			}
			if s := stray(t, dir, "file"); s != nil {
				t.Errorf("after %d bytes: stray files %q", k, s)
			}
		}
	}
}

// A panic of the writer goes on, and leaves nothing.
func TestWritePanics(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { recover() }()
		_ = Write(filepath.Join(dir, "file"), func(io.Writer) error { panic("no") })
	}()
	if s := stray(t, dir); s != nil {
		t.Errorf("stray files %q", s)
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and links of Unix")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := put(t, link, "new"); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "new")
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("the permissions are %v", info.Mode())
	}
	for _, path := range []string{dir, os.DevNull, filepath.Join(dir, "missing", "file"), filepath.Join(file, "below")} {
		if err := put(t, path, "x"); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the null device is %v, %v", info, err)
	}
}

// What a killed writer has left goes with the next write; a writer at work keeps its own.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	old := filepath.Join(dir, temporary("file")+"1-1"+suffix)
	other := filepath.Join(dir, temporary("other")+"1-1"+suffix)
	users := []string{".svmnb-notes", ".file.tmp", "svmnb.tmp", ".svmnb-" + "0000000" + "x"}
	for _, name := range append([]string{old, other}, users...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := os.WriteFile(name, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	able := Lock(f) != Unable
	f.Close()
	if !able {
		t.Skip("no locks here: only files older than an hour go")
	}
	err = Write(file, func(w io.Writer) error { // another writer of the same file meanwhile
		_, err := io.WriteString(w, "slow")
		return errors.Join(err, put(t, file, "quick"))
	})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, file, "slow")
	if s := stray(t, dir, append([]string{"file", filepath.Base(other)}, users...)...); s != nil {
		t.Errorf("left: %q", s)
	}
	Sweep(dir, "")
	if s := stray(t, dir, append([]string{"file"}, users...)...); s != nil {
		t.Errorf("left: %q", s)
	}
}
