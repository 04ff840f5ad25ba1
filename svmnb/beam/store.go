package beam

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // the harness links gs:// already
)

// store is a folder on one of Beam's file systems.
type store struct {
	fs  filesystem.Interface
	dir string
}

func openStore(ctx context.Context, dir string) (store, error) {
	fsys, err := filesystem.New(ctx, dir)
	return store{fsys, strings.TrimSuffix(dir, "/")}, err
}

// local reports whether the folder is one of this machine, which is cheap to look into.
func (s store) local() bool { return !strings.Contains(s.dir, "://") }

func (s store) path(name string) string { return s.dir + "/" + name }

func (s store) read(ctx context.Context, name string) ([]byte, error) {
	return filesystem.Read(ctx, s.fs, s.path(name))
}

// write writes a file completely or not at all. On a bucket, a file appears when it is closed;
// elsewhere it gets its name when it is complete.
func (s store) write(ctx context.Context, name string, data []byte) error {
	if _, renames := s.fs.(filesystem.Renamer); !renames {
		return filesystem.Write(ctx, s.fs, s.path(name), data)
	}
	half := s.path(fmt.Sprintf("%s.%016x.part", name, rand.Uint64()))
	if err := filesystem.Write(ctx, s.fs, half, data); err != nil {
		return err
	}
	return filesystem.Rename(ctx, s.fs, half, s.path(name))
}

func (s store) remove(ctx context.Context, name string) {
	if r, ok := s.fs.(filesystem.Remover); ok {
		_ = r.Remove(ctx, s.path(name)) // what is left over does no harm
	}
}

// names lists the files whose names end so.
func (s store) names(ctx context.Context, ending string) (map[string]bool, error) {
	list, err := s.fs.List(ctx, s.path("*"+ending))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := make(map[string]bool, len(list))
	for _, one := range list {
		found[strings.TrimSuffix(path.Base(one), ending)] = true
	}
	return found, nil
}

// changed returns when the file was written last; the zero time if that is not known.
func (s store) changed(ctx context.Context, name string) time.Time {
	if l, ok := s.fs.(filesystem.LastModifiedGetter); ok {
		if t, err := l.LastModified(ctx, s.path(name)); err == nil {
			return t
		}
	}
	return time.Time{}
}

// hash names work by its content.
func hash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
