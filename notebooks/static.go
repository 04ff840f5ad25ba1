package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/static"
)

// A saved notebook is also read where its scripts do not run: before it is trusted, on
// nbviewer, on GitHub. Each chart then shows a picture that is inside the HTML of its
// output.
//
// The picture is not an image/png beside the HTML. A reader shows only one form of an
// output and prefers HTML to an image if it supports HTML. Readers that remove scripts keep
// an img with a data URI.

// fillFigures puts a picture into each chart in the notebook's outputs. It returns the
// number of charts and of changed outputs. Charts that cannot be drawn stay unchanged, and
// the error names them.
func fillFigures(ctx context.Context, nb *notebook, o static.Options) (charts, changed int, err error) {
	for i, c := range codeCells(nb) {
		outputs, _ := c.raw["outputs"].([]any)
		for _, out := range outputs {
			raw, _ := out.(map[string]any)
			data, _ := raw["data"].(map[string]any)
			html := joined(data["text/html"])
			filled, n, e := static.Fill(ctx, html, o)
			charts += n
			if ctx.Err() != nil {
				return charts, changed, context.Cause(ctx)
			}
			if e != nil {
				err = errors.Join(err, fmt.Errorf("code cell %d: %w", i+1, e))
			}
			if filled != html {
				data["text/html"] = lines(filled)
				changed++
			}
		}
	}
	return charts, changed, err
}

func staticCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	dark := flags.Bool("dark", false, "for a dark page")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("pictures into which notebooks? Name their files")
	}
	failed := false
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			return err
		}
		charts, changed, err := fillFigures(ctx, nb, static.Options{Dark: *dark})
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			fmt.Fprintf(s.stderr, "%s: %v\n", file, err)
			failed = true
		}
		if changed > 0 { // otherwise the file must not change at all
			if err := nb.write(file); err != nil {
				return err
			}
		}
		fmt.Fprintf(s.stdout, "%s: %d charts, %d outputs with new pictures\n", file, charts, changed)
	}
	if failed {
		return errReported
	}
	return nil
}
