package svmnb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// must ends a notebook cell with the message and no stack trace; elsewhere it
// panics, as Go's Must functions do.
func must(err error) {
	if !gonbui.IsNotebook {
		panic(err)
	}
	gonbui.Sync()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// warn says something that a reader must not miss.
func warn(msg string) {
	if gonbui.IsNotebook {
		gonbui.DisplayMarkdown("> ⚠️ " + words.Markdown(msg))
		gonbui.Sync() // or the end of the cell may be faster
		return
	}
	fmt.Fprintln(os.Stderr, "svmnb:", msg)
}
