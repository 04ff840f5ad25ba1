//go:build !unix || solaris || aix

package wholefile

import "os"

// Lock takes a file for whoever has opened it as f, where that can be done.
func Lock(*os.File) Held { return Unable }

// rename puts a file into its place; an open one cannot be renamed everywhere.
func rename(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func syncFolder(string) {}
