package models

// This file fetches a model: it gets the archive, checks it, unpacks it, and puts the finished folder into the store.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Get says how a Store fetches models. The zero value uses the package managers.
type Get struct {
	// From is a folder, or an http(s) address of a folder, that has the archives under the names that the catalogue gives them. The
	// empty From means the registry of the package, by its client.
	From string
	// Again fetches a model that is there already, and replaces it.
	Again bool
	// Progress is called from time to time with the model and the bytes of its archive that have arrived. nil is no progress.
	Progress func(m *Model, bytes int64)
}

// ErrFolder is the error of a folder of models in which nothing can be made.
var ErrFolder = errors.New("the folder of the models cannot be written")

// Fetch gets the models that are not in the store. It fetches one after the other. After an error the models before it are there.
func (s *Store) Fetch(ctx context.Context, g Get, wanted ...*Model) error {
	for _, m := range wanted {
		if !g.Again && s.Has(m) {
			continue
		}
		if !m.Fits() {
			return fmt.Errorf("%s is for %s, not for this machine", m.Name, m.Platform)
		}
		if err := s.fetch(ctx, g, m); err != nil {
			return fmt.Errorf("get %s: %w", m.Name, err)
		}
	}
	return nil
}

// Missing returns the size of the archives of those models that are not in the store, in bytes.
func (s *Store) Missing(wanted ...*Model) (bytes int64) {
	for _, m := range wanted {
		if !s.Has(m) {
			bytes += m.Package.Bytes
		}
	}
	return bytes
}

func (s *Store) fetch(ctx context.Context, g Get, m *Model) (err error) {
	work, err := s.workFolder(m, g)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	defer func() {
		// After an interrupted download from an address, the next try can go on.
		if err == nil || !isAddress(g.From) {
			err = errors.Join(err, os.RemoveAll(work))
		}
	}()
	if err := s.sweep(m, work); err != nil {
		return err
	}
	if err := enoughSpace(s.Dir, m.Package.Bytes+m.Size()); err != nil {
		return err
	}
	archive, err := acquire(ctx, g, m, work)
	if err != nil {
		return err
	}
	if err := checkFile(archive, m.Package.Bytes, m.Package.SHA256); err != nil {
		return errors.Join(err, removeOwn(archive, work))
	}
	finished := filepath.Join(work, "model")
	if err := os.RemoveAll(finished); err != nil {
		return err
	}
	if err := os.Mkdir(finished, 0o755); err != nil {
		return err
	}
	if err := unpack(archive, finished, m); err != nil {
		return errors.Join(err, os.RemoveAll(finished))
	}
	return s.install(m, finished, g.Again)
}

// workFolder returns a new folder in which the model is made. For a download from an address it has the same name at each try, so that the
// download can go on.
func (s *Store) workFolder(m *Model, g Get) (string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", err
	}
	if !isAddress(g.From) {
		return os.MkdirTemp(s.Dir, partialPrefix+m.Name+"-")
	}
	work := filepath.Join(s.Dir, partialPrefix+m.Name+"-download")
	return work, os.MkdirAll(work, 0o755)
}

// removeOwn deletes the archive if it is in the folder work, and not the user's own.
func removeOwn(archive, work string) error {
	if filepath.Dir(archive) != work {
		return nil
	}
	return os.Remove(archive)
}

// install moves the finished folder to its place.
func (s *Store) install(m *Model, finished string, again bool) error {
	if again {
		if err := s.Remove(m); err != nil && !errors.Is(err, ErrNotThere) {
			return err
		}
	}
	err := os.Rename(finished, s.Path(m.Name))
	if err != nil && s.Has(m) {
		return nil // another process was faster
	}
	return err
}

// isAddress reports whether from is an http(s) address, and not a folder.
func isAddress(from string) bool {
	u, err := url.Parse(from)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// ErrFrom is the error of a folder that does not have the archive.
var ErrFrom = errors.New("the archive is not there")

// acquire gets the archive of the model and returns its path. A package manager and a download write into the folder work.
func acquire(ctx context.Context, g Get, m *Model, work string) (string, error) {
	progress := func(n int64) {
		if g.Progress != nil {
			g.Progress(m, n)
		}
	}
	switch {
	case g.From == "":
		return runClient(ctx, m.Package, work, progress)
	case isAddress(g.From):
		return download(ctx, strings.TrimSuffix(g.From, "/")+"/"+url.PathEscape(m.Package.File), filepath.Join(work, m.Package.File), m.Package.Bytes, progress)
	}
	archive := filepath.Join(g.From, m.Package.File)
	if st, err := os.Stat(archive); err != nil || !st.Mode().IsRegular() {
		return "", fmt.Errorf("%w: %s has no %s", ErrFrom, g.From, m.Package.File)
	}
	progress(m.Package.Bytes)
	return archive, nil
}

// counter calls a function with the number of bytes that have passed.
type counter struct {
	r     io.Reader
	n     int64
	tell  func(int64)
	alive func()
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if n > 0 {
		c.alive()
		c.tell(c.n)
	}
	return n, err
}
