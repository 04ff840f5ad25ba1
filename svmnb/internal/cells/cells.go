// Package cells shows messages to the reader of a notebook cell.
package cells

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Must ends a notebook cell with the message and without a stack trace. Outside a notebook
// it panics.
func Must(err error) {
	if !gonbui.IsNotebook {
		panic(err)
	}
	gonbui.Sync()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Warn shows a warning.
func Warn(msg string) {
	if gonbui.IsNotebook {
		gonbui.DisplayMarkdown("> ⚠️ " + words.Markdown(msg))
		gonbui.Sync() // otherwise the cell may end before the message is shown
		return
	}
	fmt.Fprintln(os.Stderr, "svmnb:", msg)
}

// WhenSlow is a key in the metadata of an output. Its value is true if the output appears only when
// the work is slow. The comparison of two runs of a notebook leaves such outputs out.
const WhenSlow = "svmnb_when_slow"

// Progress returns a function that shows a line of Markdown in the cell's output, in place of
// the line before: not before the time after, and then at most twice a second. The last line
// is shown in any case if there was one before. Outside a notebook Progress returns nil.
func Progress(after time.Duration) func(line string, last bool) {
	if !gonbui.IsNotebook {
		return nil
	}
	id := "svmnb-progress-" + strings.ToLower(rand.Text())
	var metadata map[string]any
	if after > 0 {
		metadata = map[string]any{WhenSlow: true}
	}
	return throttled(time.Now().Add(after), func(line string) {
		gonbui.SendData(&protocol.DisplayData{
			Data:      map[protocol.MIMEType]any{protocol.MIMETextMarkdown: line},
			Metadata:  metadata,
			DisplayID: id,
		})
	})
}

func throttled(next time.Time, show func(line string)) func(line string, last bool) {
	begun := false
	return func(line string, last bool) {
		now := time.Now()
		if now.Before(next) && !(last && begun) {
			return
		}
		begun, next = true, now.Add(500*time.Millisecond)
		show(line)
	}
}
