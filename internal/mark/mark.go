// Package mark reads text that may begin with a byte order mark.
package mark

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrUTF16 says that a text is in UTF-16, which no reader of this module supports.
var ErrUTF16 = errors.New("the file is text in UTF-16: save it as UTF-8")

// Skip returns a reader of r that begins after its byte order mark. Editors and spreadsheets
// put this mark before UTF-8.
func Skip(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReader(r)
	begin, _ := in.Peek(3) // an error occurs again in the first read
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3)
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return nil, ErrUTF16
	}
	return in, nil
}

// Cut returns text without its byte order mark.
func Cut(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }
