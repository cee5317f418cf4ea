package models

// This file has the folder of a machine's models: which are there, where they are, and whether they are whole.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Store is the folder with the models of a machine. Each model has a folder in it, with the name of the model. Several processes may use a
// Store at a time: a model appears with all of its files, or not at all.
type Store struct {
	Dir       string
	Catalogue *Catalogue
}

// Open returns the store in that folder, with the built-in catalogue. The empty dir means DefaultDir. The folder need not exist.
func Open(dir string) (*Store, error) {
	c, err := BuiltIn()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	return &Store{Dir: dir, Catalogue: c}, nil
}

// DefaultDir returns the folder for the models of a user: $ANTIPHON_MODELS, or else antiphon/models in $XDG_DATA_HOME or in
// ~/.local/share.
func DefaultDir() (string, error) {
	if dir := os.Getenv("ANTIPHON_MODELS"); dir != "" {
		return dir, nil
	}
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "antiphon", "models"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for models: %w; set ANTIPHON_MODELS", err)
	}
	return filepath.Join(home, ".local", "share", "antiphon", "models"), nil
}

// Path returns the folder of a model, whether it is there or not.
func (s *Store) Path(name string) string { return filepath.Join(s.Dir, name) }

// Has reports whether the model is there. It does not read its files.
func (s *Store) Has(m *Model) bool {
	st, err := os.Stat(s.Path(m.Name))
	return err == nil && st.IsDir()
}

// Find returns the folder of the first model in the catalogue that is for this purpose and this platform and is there. language is an ISO
// 639-1 code, or empty for any. It returns false if there is none.
func (s *Store) Find(what, language string) (*Model, string, bool) {
	for i := range s.Catalogue.Models {
		m := &s.Catalogue.Models[i]
		speaks := language == "" || len(m.Languages) == 0 || slices.Contains(m.Languages, language)
		if m.What == what && m.Fits() && speaks && s.Has(m) {
			return m, s.Path(m.Name), true
		}
	}
	return nil, "", false
}

// ErrNotThere is the error for a model that is not in the store.
var ErrNotThere = errors.New("the model is not on this machine")

// Verify reads every file of the model and compares it with the catalogue. It returns an error that wraps ErrNotThere or ErrChecksum.
func (s *Store) Verify(m *Model) error {
	if !s.Has(m) {
		return fmt.Errorf("%w: %s; get it with: antiphon models get %s", ErrNotThere, m.Name, m.Name)
	}
	for _, f := range m.Files {
		err := checkFile(filepath.Join(s.Path(m.Name), filepath.FromSlash(f.Path)), f.Bytes, f.SHA256)
		if err != nil {
			return fmt.Errorf("%s: %w; get it again with: antiphon models get --again %s", m.Name, err, m.Name)
		}
	}
	return nil
}

// Remove deletes the model from the machine. It returns an error that wraps ErrNotThere if it is not there.
func (s *Store) Remove(m *Model) error {
	trash, err := os.MkdirTemp(s.Dir, partialPrefix+m.Name+"-")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrNotThere, m.Name)
	} else if err != nil {
		return err
	}
	// The rename makes the model disappear at once. So no process sees half of it.
	err = os.Rename(s.Path(m.Name), filepath.Join(trash, m.Name))
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: %s", ErrNotThere, m.Name)
	}
	return errors.Join(err, os.RemoveAll(trash))
}

// partialPrefix begins the names of folders in the store that are no models: a download that runs, or was interrupted.
const partialPrefix = ".partial-"

// leftover is the age from which on a download that has not ended is taken for interrupted.
const leftover = 2 * maxFetch

// sweep deletes what interrupted downloads of the model have left. It keeps the folder keep.
func (s *Store) sweep(m *Model, keep string) error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(s.Dir, e.Name())
		if name == keep || !strings.HasPrefix(e.Name(), partialPrefix+m.Name+"-") {
			continue
		}
		if info, e := e.Info(); e == nil && time.Since(info.ModTime()) > leftover {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	return err
}
