// Package wholefile writes a file completely or not at all. If the program ends, fails or
// fills the disk, the file has either its old or its new content.
package wholefile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	prefix, suffix = ".svmnb-", ".tmp"

	// abandoned is the age from which a temporary file counts as left behind, if files cannot
	// be locked.
	abandoned = time.Hour
)

// Write writes the file at path with the content that write writes. It writes to a temporary
// file in the same folder, flushes that to the disk and renames it. An existing file keeps its
// permissions. For a symbolic link, the file that it leads to is written. If path is not a
// regular file, such as a folder or a device, the result is an error. Temporary files for the
// same path that a killed program has left behind are removed.
func Write(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o666) // the umask removes bits from it
	old, err := os.Lstat(path)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return fmt.Errorf("%s is there and no regular file: give another path", path)
	case err == nil:
		mode = old.Mode().Perm()
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	dir, own := filepath.Dir(path), temporary(filepath.Base(path))
	Sweep(dir, filepath.Base(path))
	tmp, err := create(dir, own, mode)
	if err != nil {
		return err
	}
	written := false
	defer func() {
		if !written { // also after a panic in write
			os.Remove(tmp.Name())
		}
		tmp.Close() // this also releases the lock
	}()
	if err := write(tmp); err != nil {
		return fmt.Errorf("%s could not be written and is as it was: %w", path, err)
	}
	if old != nil {
		err = tmp.Chmod(mode) // because the umask may have removed bits
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("%s could not be written and is as it was: %w", path, err)
	}
	written = true
	syncFolder(dir)
	return nil
}

// temporary returns the prefix of the names of temporary files for a file. Its length does not
// depend on base, because base may already be as long as the file system allows.
func temporary(base string) string {
	return fmt.Sprintf("%s%08x-", prefix, crc32.ChecksumIEEE([]byte(base)))
}

// create creates a temporary file and locks it, so that Sweep knows that it is in use.
func create(dir, own string, mode os.FileMode) (*os.File, error) {
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf("%s%d-%d%s", own, os.Getpid(), time.Now().UnixNano(), suffix))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if Lock(f) != Taken {
			// Another process may have removed the file by Sweep before it was locked.
			if is, err := os.Lstat(name); err == nil {
				if mine, err := f.Stat(); err == nil && os.SameFile(is, mine) {
					return f, nil
				}
			}
		}
		f.Close()
	}
	return nil, fmt.Errorf("no temporary file can be made in %s", dir)
}

// Sweep removes temporary files of Write in a folder if the processes that wrote them have
// ended: those for the file base, or all if base is "".
func Sweep(dir, base string) {
	begins := prefix
	if base != "" {
		begins = temporary(base)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begins) || !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		lock := Lock(f)
		if info, err := f.Stat(); err == nil && (lock == Locked || lock == Unable && time.Since(info.ModTime()) > abandoned) {
			os.Remove(name)
		}
		f.Close()
	}
}

// Held is the result of locking a file.
type Held int

const (
	Locked Held = iota // until the file is closed or the process ends in any way
	Taken              // locked by another process
	Unable             // the system or the file system has no locks
)
