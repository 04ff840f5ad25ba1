package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/mark"
)

// Every reader of text takes a byte order mark, which spreadsheets and editors put in
// front, and names the line where a text is in another encoding.
func TestByteOrderMark(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "points")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const table, sparse = "a,b,y\n1,2,3\n4,5,6\n", "1 1:2 3:4\n-1 2:1\n"
	readers := map[string]struct {
		text string
		read func(text string) (*Dataset, error)
	}{
		"ReadCSV":          {table, func(s string) (*Dataset, error) { return ReadCSV(strings.NewReader(s), CSV{}) }},
		"ReadCSV, comment": {"#x\n" + table, func(s string) (*Dataset, error) { return ReadCSV(strings.NewReader(s), CSV{Comment: '#'}) }},
		"ReadCSV, quoted":  {`"a",b,y` + "\n1,2,3\n", func(s string) (*Dataset, error) { return ReadCSV(strings.NewReader(s), CSV{Target: "a"}) }},
		"LoadCSV":          {table, func(s string) (*Dataset, error) { return LoadCSV(file(s), CSV{}) }},
		"ReadLIBSVM":       {sparse, func(s string) (*Dataset, error) { return ReadLIBSVM(strings.NewReader(s), 0) }},
		"ReadLIBSVM, CRLF": {strings.ReplaceAll(sparse, "\n", "\r\n"), func(s string) (*Dataset, error) { return ReadLIBSVM(strings.NewReader(s), 0) }},
		"ReadLIBSVMSparse": {sparse, func(s string) (*Dataset, error) { return ReadLIBSVMSparse(strings.NewReader(s), 0) }},
		"LoadLIBSVM":       {sparse, func(s string) (*Dataset, error) { return LoadLIBSVM(file(s), 0) }},
		"LoadLIBSVMSparse": {sparse, func(s string) (*Dataset, error) { return LoadLIBSVMSparse(file(s), 0) }},
		"a comment first":  {"# points\n" + sparse, func(s string) (*Dataset, error) { return ReadLIBSVM(strings.NewReader(s), 0) }},
	}
	for name, r := range readers {
		plain, err := r.read(r.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		marked, err := r.read(bom + r.text)
		if err != nil {
			t.Errorf("%s with a mark: %v", name, err)
			continue
		}
		if plain.String() != marked.String() || strings.Join(plain.Features, "|") != strings.Join(marked.Features, "|") {
			t.Errorf("%s with a mark: %v %q, and without: %v %q", name, marked, marked.Features, plain, plain.Features)
		}
		_, err = r.read(bom)
		if err == nil {
			t.Errorf("%s: there is nothing but a mark", name)
		}
		for _, utf16 := range []string{"\xff\xfe1\x00", "\xfe\xff\x001"} {
			var wrong *ReadError
			if _, err := r.read(utf16); !errors.As(err, &wrong) || !errors.Is(err, mark.ErrUTF16) {
				t.Errorf("%s of UTF-16: %v", name, err)
			}
		}
	}
}
