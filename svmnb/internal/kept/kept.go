// Package kept has the cache on disk for the results of Keep.
package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/internal/wholefile"
)

// File returns the path of the file for a key.
func File(dir string, key []byte) string {
	return filepath.Join(dir, hex.EncodeToString(key)+".fit")
}

// Dir returns the folder of the cache, and makes it if necessary.
func Dir() (string, error) {
	dir := os.Getenv("SVMNB_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "svmnb")
	}
	dir = filepath.Join(dir, "fits")
	return dir, os.MkdirAll(dir, 0o755)
}

// Decode reads a file of Write: the key, the SHA-256 of the rest, and the value as gob. It
// reports whether the file is complete and has this key.
func Decode(file string, key []byte, value any) bool {
	b, err := os.ReadFile(file)
	return err == nil && Parse(b, key, value)
}

// Parse does what Decode does, for the bytes b of a file.
func Parse(b, key []byte, value any) bool {
	if len(b) < 64 || !bytes.Equal(b[:32], key) {
		return false
	}
	body := b[64:]
	if sum := sha256.Sum256(body); !bytes.Equal(b[32:64], sum[:]) {
		return false
	}
	return gob.NewDecoder(bytes.NewReader(body)).Decode(value) == nil
}

// Write writes the file completely or not at all. It reports no errors: a fit that is not
// stored is solved again.
func Write(file string, key []byte, value any) {
	var body bytes.Buffer
	if gob.NewEncoder(&body).Encode(value) != nil {
		return
	}
	sum := sha256.Sum256(body.Bytes())
	wholefile.Sweep(filepath.Dir(file), "")
	_ = wholefile.Write(file, func(w io.Writer) error {
		_, err := w.Write(slices.Concat(key, sum[:], body.Bytes()))
		return err
	})
}

// Sweep removes the files of fits (.fit) and of unfinished runs (.part) that were not used for the longest time until the others take at
// most limit bytes. It also removes the temporary files that older versions left when they
// were killed.
func Sweep(dir string, limit int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if strings.HasSuffix(e.Name(), ".tmp") && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(dir, e.Name()))
		} else if strings.HasSuffix(e.Name(), ".fit") || strings.HasSuffix(e.Name(), ".part") {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= limit {
			return
		}
		if os.Remove(filepath.Join(dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}

// Bytes is the limit for the folder of kept fits.
const Bytes = 256 << 20
