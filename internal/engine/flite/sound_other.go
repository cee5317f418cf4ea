//go:build !linux

package flite

import "os"

// The file that flite writes its sound to: a temporary file that only this user can read.

// sound is the file.
type sound struct{ name string }

// soundFile returns an empty file and its path.
func soundFile() (s sound, path string, err error) {
	f, err := os.CreateTemp("", "flite-*.wav")
	if err != nil {
		return s, "", err
	}
	return sound{f.Name()}, f.Name(), f.Close()
}

// inherited returns nil: the process opens the file by its path.
func (s sound) inherited() []*os.File { return nil }

// read returns what was written.
func (s sound) read() ([]byte, error) { return os.ReadFile(s.name) }

// close removes the file.
func (s sound) close() { _ = os.Remove(s.name) } // another user cannot read what stays
