//go:build unix && !solaris && !aix

package wholefile

import (
	"os"
	"syscall"
)

// Lock locks an open file until it is closed.
func Lock(f *os.File) Held {
	switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) {
	case nil:
		return Locked
	case syscall.EWOULDBLOCK:
		return Taken
	}
	return Unable
}

// rename renames the file to path. The file stays locked.
func rename(f *os.File, path string) error { return os.Rename(f.Name(), path) }

// syncFolder writes a folder's list of files to the disk. Not every file system supports this.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
