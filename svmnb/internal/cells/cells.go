// Package cells says things to the reader of a notebook cell.
package cells

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Must ends a notebook cell with the message and no stack trace; elsewhere it
// panics, as Go's Must functions do.
func Must(err error) {
	if !gonbui.IsNotebook {
		panic(err)
	}
	gonbui.Sync()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Warn says something that a reader must not miss.
func Warn(msg string) {
	if gonbui.IsNotebook {
		gonbui.DisplayMarkdown("> ⚠️ " + words.Markdown(msg))
		gonbui.Sync() // or the end of the cell may be faster
		return
	}
	fmt.Fprintln(os.Stderr, "svmnb:", msg)
}
