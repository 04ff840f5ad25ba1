package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/static"
)

// A saved notebook is read where its scripts do not run: before it is trusted,
// on nbviewer, on GitHub. Its charts then show the picture that stands in their
// place in the HTML.
//
// The picture is there and not beside it, as the output's image/png, because a
// reader takes one form of an output, and all that show HTML prefer it to an
// image; those that strip scripts leave an img with a data URI.

// fillFigures puts a picture into the place of each chart in the notebook's
// outputs and returns how many charts there are, and how many outputs have
// changed. Charts that cannot be drawn stay as they are and are in the error.
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
		if changed > 0 { // otherwise the file stays as it is, to the byte
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
