//go:build !unix || solaris || aix

package wholefile

import "os"

// Lock returns Unable, since files cannot be locked on this system.
func Lock(*os.File) Held { return Unable }

// rename renames the file to path. It closes f first, since not every system can rename an
// open file.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func syncFolder(string) {}
