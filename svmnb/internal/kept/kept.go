// Package kept is the folder of results that are remembered.
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

// File is the file of what has the key.
func File(dir string, key []byte) string {
	return filepath.Join(dir, hex.EncodeToString(key)+".fit")
}

// Dir is the folder, which it makes.
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

// Decode reads what Write has written: the key, the SHA-256 of what
// follows, and the value as gob.
func Decode(file string, key []byte, value any) bool {
	b, err := os.ReadFile(file)
	return err == nil && Parse(b, key, value)
}

// Parse is Decode of the bytes of a file.
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

// Write writes file as a whole or not at all. Its errors are not reported:
// a fit that is not remembered is solved again.
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

// Sweep removes the files used longest ago until the rest take at most
// limit bytes, and what a killed write of an older version has left behind.
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
		} else if strings.HasSuffix(e.Name(), ".fit") {
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

// Bytes bounds the folder of kept fits; those not used longest go first.
const Bytes = 256 << 20
