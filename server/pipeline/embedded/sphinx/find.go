package sphinx

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
	Dictionary string // words and how they sound
}

// Places are where to look. The zero value is where the distribution puts things.
type Places struct {
	Libraries []string // folders of shared libraries
	Model     string   // folder of the model "en-us"
}

// Install is the command that gets the library and the model.
const Install = "sudo apt-get install pocketsphinx pocketsphinx-en-us"

// MissingError says what was not found.
type MissingError struct{ What, Where string }

// Error implements error.
func (e *MissingError) Error() string { return e.What + " is not in " + e.Where }

// libraryNames are the versions of the library that fit, the preferred first.
func libraryNames() []string {
	return []string{"libpocketsphinx.so.5", "libpocketsphinx.so.3", "libpocketsphinx.so.1", "libpocketsphinx.so"}
}

// Find looks for the library and the model. The error is a *MissingError.
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

// LibraryFolders are the folders in which shared libraries are looked for.
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

// defaults are the settings of a decoder for short spoken sentences.
func defaults(p Paths) []Setting {
	return []Setting{
		{"hmm", p.Acoustic},
		{"dict", p.Dictionary},
		{"logfn", os.DevNull},
		// The front end is our own: no means are taken out, and the model's feat.params, which ask for that, are not read.
		{"featparams", os.DevNull},
		{"cmn", "none"},
		{"agc", "none"},
		{"feat", "1s_c_d_dd"},
		{"svspec", "0-12/13-25/26-38"},
	}
}
