package sphinx

// This file finds the library and the model, and has the settings of the decoder.

import (
	"os"
	"path/filepath"
	"strings"
)

// Paths are the files that a decoder needs.
type Paths struct {
	Library    string // libpocketsphinx.so.N
	Acoustic   string // folder of the acoustic model
	Language   string // language model
	Dictionary string // words and their pronunciations
}

// Places are the folders to search. The zero value means the folders of the distribution.
type Places struct {
	Libraries []string // folders of shared libraries
	Model     string   // folder of the model "en-us"
}

// Install is the command that installs the library and the model on Debian.
const Install = "sudo apt-get install pocketsphinx pocketsphinx-en-us"

// MissingError says which file was not found.
type MissingError struct{ What, Where string }

// Error implements error.
func (e *MissingError) Error() string { return e.What + " is not in " + e.Where }

// libraryNames returns the file names of the supported versions of the library, the preferred one first.
func libraryNames() []string {
	return []string{"libpocketsphinx.so.5", "libpocketsphinx.so.3", "libpocketsphinx.so.1", "libpocketsphinx.so"}
}

// Find returns the paths of the library and the model. Its error is a *MissingError.
func Find(p Places) (Paths, error) {
	libraries := p.Libraries
	if libraries == nil {
		libraries = LibraryFolders()
	}
	lib := firstFile(libraries, libraryNames())
	if lib == "" {
		return Paths{}, &MissingError{"the library libpocketsphinx", strings.Join(libraries, ", ")}
	}
	model := p.Model
	if model == "" {
		model = "/usr/share/pocketsphinx/model/en-us"
	}
	found := Paths{
		Library: lib, Acoustic: filepath.Join(model, "en-us"), Language: filepath.Join(model, "en-us.lm.bin"),
		Dictionary: filepath.Join(model, "cmudict-en-us.dict"),
	}
	for _, f := range []string{filepath.Join(found.Acoustic, "mdef"), found.Language, found.Dictionary} {
		if _, err := os.Stat(f); err != nil {
			return Paths{}, &MissingError{"the model file " + filepath.Base(f), filepath.Dir(f)}
		}
	}
	return found, nil
}

// LibraryFolders returns the folders that are searched for shared libraries.
func LibraryFolders() []string {
	folders := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	folders = append(folders, "/usr/local/lib")
	for _, pattern := range []string{"/usr/lib/*-linux-gnu*", "/usr/lib64", "/usr/lib"} {
		m, err := filepath.Glob(pattern)
		if err == nil {
			folders = append(folders, m...)
		}
	}
	return folders
}

func firstFile(folders, names []string) string {
	for _, n := range names {
		for _, f := range folders {
			p := filepath.Join(f, n)
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				return p
			}
		}
	}
	return ""
}

// defaults returns the settings of a decoder for short spoken sentences.
func defaults(p Paths) []Setting {
	return []Setting{
		{"hmm", p.Acoustic},
		{"dict", p.Dictionary},
		{"logfn", os.DevNull},
		// This package computes the features. So the library must not subtract a mean, and must not read the model's feat.params,
		// which would ask for it.
		{"featparams", os.DevNull},
		{"cmn", "none"},
		{"agc", "none"},
		{"feat", "1s_c_d_dd"},
		{"svspec", "0-12/13-25/26-38"},
		// Live results come from the first pass. At the end of the utterance the library decodes it again, with these two passes.
		{"fwdflat", "yes"},
		{"bestpath", "yes"},
	}
}
