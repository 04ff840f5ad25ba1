// Package wholefile writes files as a whole or not at all: whatever ends the program,
// fails or fills the disk, the file is the old one or the new one.
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

	// abandoned is how old a temporary file must be to count as left behind where files
	// cannot be locked.
	abandoned = time.Hour
)

// Write gives the file at path what write writes. It writes to a temporary file in the
// same folder, brings that to the disk and renames it. A file that exists keeps its
// permissions; what a link leads to is written, not the link. What is there but no
// regular file, such as a folder or a device, is an error. Temporary files for the same
// path that a killed program has left behind are removed.
func Write(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o666) // less the umask
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
		if !written { // also where write panics
			os.Remove(tmp.Name())
		}
		tmp.Close() // and with it goes the lock
	}()
	if err := write(tmp); err != nil {
		return fmt.Errorf("%s could not be written and is as it was: %w", path, err)
	}
	if old != nil {
		err = tmp.Chmod(mode) // which the umask may have made less
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

// temporary begins the names of temporary files for a file of this name. It has the same
// length for all: a name may be as long as a file system allows.
func temporary(base string) string {
	return fmt.Sprintf("%s%08x-", prefix, crc32.ChecksumIEEE([]byte(base)))
}

// create opens a new temporary file and locks it, so that Sweep knows that it is in use.
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
			// A sweep may have been faster between creation and lock.
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

// Sweep removes temporary files of Write in a folder whose writer is gone: those for a
// file of this name, or with "" all.
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

// Held says what has become of a wish to lock a file.
type Held int

const (
	Locked Held = iota // until it is closed, or the process ends, however it does
	Taken              // by somebody else
	Unable             // the system or the file system has no locks
)
