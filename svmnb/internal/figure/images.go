package figure

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

//go:embed images.js
var imagesJS source

// ImagesData is what [Images] draws: points whose features are the pixels of an image.
type ImagesData struct {
	Problem    string // name of the data; may be empty
	Rows, Cols int
	Pixels     [][]float64 // n × (Rows·Cols), the rows of an image one after the other
	Index      []int       // n indices in the data, for tooltips
	Of         int         // number of points in the data
	Captions   []string    // n captions; nil for none
}

const (
	// MostImages is the largest number of images.
	MostImages = 120
	// MostPixels is the largest number of pixels of an image.
	MostPixels = 256 * 256

	imageShades = 32
	imageSide   = 96 // least side of an image in its file, so that a browser does not blur it
)

// Images draws the points as small images in rows, all with the same scale of shades: from
// the colour of the page for the least pixel to that of the text for the largest one. If
// pixels are negative, the scale has the two colours of classes, and 0 is the page.
//
// Each image is a PNG of indices of shades. Its palette has the colours of the page, so the
// script in the page writes it.
func Images(d ImagesData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n := len(d.Pixels)
	low, high := extent(d.Pixels...)
	signed := low < 0
	if signed {
		high = max(-low, high)
		low = -high
	}
	span := high - low
	if span == 0 { // all pixels are equal, and none is negative
		low, span = 0, high
		if high == 0 {
			span = 1
		}
	}
	scale := (imageSide + max(d.Rows, d.Cols) - 1) / max(d.Rows, d.Cols)
	var head string
	files := make(list, n)
	for i, pixels := range d.Pixels {
		before, after, err := d.file(pixels, scale, func(v float64) uint8 { return uint8(math.Round((imageShades - 1) * ((v - low) / span))) })
		if err != nil {
			return nil, err
		}
		head, files[i] = before, after
	}
	title := fmt.Sprintf("%s of %d × %d pixels", count(n, "image", "images"), d.Rows, d.Cols)
	caption, most := "", 0
	counts := map[string]int{}
	for _, c := range d.Captions {
		if counts[c]++; counts[c] > most {
			caption, most = c, counts[c]
		}
	}
	if most > 1 && len(counts) > 1 {
		title += fmt.Sprintf(" with %d captions; most frequent: “%s”, %d times", len(counts), named(caption), most)
	}
	part := ""
	if d.Of > n {
		part = fmt.Sprintf("the first %s of %s", thousands(int64(n)), count(d.Of, "point", "points"))
	}
	shades := fmt.Sprintf("shades from %s to %s", numberTo(low, 3), numberTo(low+span, 3))
	subtitle := sentence(d.Problem, part, shades)
	cells := make(list, n)
	for i := range cells {
		cells[i] = list{0, 0, i}
	}
	svm := object{"layout": imagesJS.cut("layout"), "head": head, "files": files, "shades": imageShades, "signed": signed, "rows": d.Rows, "cols": d.Cols, "index": d.Index, "low": round4(low), "high": round4(low + span)}
	if d.Captions != nil {
		svm["names"] = d.Captions
	}
	p := plot{name: "images", about: fmt.Sprintf("%s in rows.", count(n, "small image", "small images")), tip: imagesJS.cut("tip"), grid: object{}, svm: svm}
	side := func() axis {
		return axis{"type": "value", "min": 0, "max": 1, "show": false}
	}
	p.panel(side(), side())
	p.add(custom(imagesJS.cut("image", "layout", imagesJS.text("layout")), cells).id("images").set("encode", object{"x": 0, "y": 1}))
	p.more = object{"toolbox": object{"feature": object{"dataZoom": object{"show": false}, "restore": object{"show": false}}}}
	return p.chart(title, subtitle), nil
}

// What a PNG file begins with, up to the palette, and the parts of a chunk around its data.
const pngHead, chunkParts = 8 + 25, 12

// file writes the image as a PNG and returns what stands before and after its palette, in
// base64. The palette ends and begins at multiples of three bytes, so that the parts can be
// joined.
func (d *ImagesData) file(pixels []float64, scale int, shade func(float64) uint8) (before, after string, err error) {
	palette := make(color.Palette, imageShades)
	for k := range palette {
		palette[k] = color.Gray{uint8(k)}
	}
	img := image.NewPaletted(image.Rect(0, 0, d.Cols*scale, d.Rows*scale), palette)
	for y := range d.Rows * scale {
		for x := range d.Cols * scale {
			img.SetColorIndex(x, y, shade(pixels[y/scale*d.Cols+x/scale]))
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
		return "", "", err
	}
	data := b.Bytes()
	return base64.StdEncoding.EncodeToString(data[:pngHead]), base64.StdEncoding.EncodeToString(data[pngHead+chunkParts+3*imageShades:]), nil
}

func (d *ImagesData) check() error {
	c := checks{figure: "Images"}
	n := len(d.Pixels)
	c.refuse(n == 0 || n > MostImages, "Pixels", "has %s: there is room for 1 to %d", count(n, "image", "images"), MostImages)
	c.refuse(d.Rows < 1 || d.Cols < 1 || d.Rows > MostPixels || d.Cols > MostPixels || d.Rows*d.Cols > MostPixels, "Rows", "and Cols are %d × %d: give images of at least 1 × 1 and at most %d pixels", d.Rows, d.Cols, MostPixels)
	for i, pixels := range d.Pixels {
		c.numbers("pixel", d.Rows*d.Cols, given(fmt.Sprintf("Pixels[%d]", i), pixels))
	}
	c.refuse(len(d.Index) != n, "Index", "has length %d for %s", len(d.Index), count(n, "image", "images"))
	c.refuse(d.Captions != nil && len(d.Captions) != n, "Captions", "has length %d for %s: give one for each, or none", len(d.Captions), count(n, "image", "images"))
	return c.err
}
