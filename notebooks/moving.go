package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/static"
)

// The moving picture of the README shows a solver at work: moments of a replay as a GIF, one for
// light and one for dark pages, and its last moment alone for readers who want nothing to move.

const (
	movingWidth   = 860
	movingColours = 128
	movingBytes   = 500_000 // largest size of a picture
)

// writeMoving writes the moving pictures into docs.
func writeMoving(ctx context.Context, root string) error {
	fit := svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).C(2).MustFit()
	for _, dark := range []bool{false, true} {
		moving, still, err := drawMoving(ctx, fit, dark)
		if err != nil {
			return err
		}
		name := filepath.Join(root, "docs", "moving")
		if dark {
			name += "-dark"
		}
		if err := os.WriteFile(name+".gif", moving, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(name+"-still.png", still, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// drawMoving draws moments of the fit's run, more of them at its beginning, where more happens.
func drawMoving(ctx context.Context, fit *svmnb.Fit, dark bool) (moving, still []byte, err error) {
	c, err := play.Replay(fit).Chart()
	if err != nil {
		return nil, nil, err
	}
	timeline := c.Extra["timeline"].(map[string]any)
	last := timeline["currentIndex"].(int)
	timeline["show"] = false // a picture has no buttons
	const below = 50         // pixels where they were
	var frames []image.Image
	var delays []int // in hundredths of a second
	for k := 0; ; k = min(k+1+k/6, last) {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		timeline["currentIndex"] = k
		data, err := static.PNG(c, static.Options{Width: movingWidth, Scale: 1, Dark: dark})
		if err != nil {
			return nil, nil, err
		}
		frame, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, nil, err
		}
		frames, delays = append(frames, frame), append(delays, 35)
		if k == last {
			break
		}
	}
	delays[len(delays)-1] = 400
	box := frames[0].Bounds()
	box.Max.Y -= below
	var b, s bytes.Buffer
	err = errors.Join(
		gif.EncodeAll(&b, &gif.GIF{Image: changes(paletted(frames, box, movingColours-1)), Delay: delays}),
		png.Encode(&s, paletted(frames[len(frames)-1:], box, 256)[0]))
	return b.Bytes(), s.Bytes(), err
}

// changes makes the pixels transparent that are as in the frame before, so that a GIF stores the
// others only. Every frame then stays below the next.
func changes(frames []*image.Paletted) []*image.Paletted {
	palette := append(frames[0].Palette[:len(frames[0].Palette):len(frames[0].Palette)], image.Transparent.C)
	clear := uint8(len(palette) - 1)
	out := make([]*image.Paletted, len(frames))
	for k, frame := range frames {
		out[k] = image.NewPaletted(frame.Bounds(), palette)
		copy(out[k].Pix, frame.Pix)
		for i := range frame.Pix {
			if k > 0 && frame.Pix[i] == frames[k-1].Pix[i] {
				out[k].Pix[i] = clear
			}
		}
	}
	return out
}
