// Package cells shows messages to the reader of a notebook cell.
package cells

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
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
