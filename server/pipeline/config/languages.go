package config

// The section `languages`: files with the words of languages.

import (
	"fmt"
	"os"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// Language is a language whose words stand in a file.
type Language struct {
	Name string `yaml:"name" required:"" doc:"ISO 639-1, such as pl. A language that is built in is replaced."`
	File string `yaml:"file" type:"path" required:"" doc:"The file with the words: docs/end-of-turn.md describes it."`
}

// maxLanguages is how many languages antiphon.yaml may name.
const maxLanguages = 100

// languages reads the files of the languages. The error names the file that is wrong, and its line.
func (f *File) languages() (endofturn.Own, error) {
	if len(f.Languages) > maxLanguages {
		return nil, fmt.Errorf("%s: languages: there are %d: want at most %d", f.Path, len(f.Languages), maxLanguages)
	}
	own := endofturn.Own{}
	for _, l := range f.Languages {
		if own[l.Name] != nil {
			return nil, fmt.Errorf("%s: languages: %s stands there twice: take one out", f.Path, l.Name)
		}
		read, err := l.read()
		if err != nil {
			return nil, fmt.Errorf("%s: languages: %w", f.Path, err)
		}
		own[l.Name] = read
	}
	return own, nil
}

// read returns the data of the language.
func (l *Language) read() (*endofturn.Language, error) {
	if len(l.Name) < 2 || len(l.Name) > 3 || strings.Trim(l.Name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, fmt.Errorf("%q is no name of a language: want two or three small letters, such as pl", l.Name)
	}
	file, err := os.Open(l.File)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	read, err := endofturn.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", l.Name, l.File, err)
	}
	return read, nil
}
