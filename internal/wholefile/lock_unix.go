//go:build unix && !solaris && !aix

package wholefile

import (
	"os"
	"syscall"
)

// Lock takes a file for whoever has opened it as f.
func Lock(f *os.File) Held {
	switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) {
	case nil:
		return Locked
	case syscall.EWOULDBLOCK:
		return Taken
	}
	return Unable
}

// rename puts a file into its place, in which it stays locked.
func rename(f *os.File, path string) error { return os.Rename(f.Name(), path) }

// syncFolder brings a folder's list of files to the disk. Not every file system can.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
