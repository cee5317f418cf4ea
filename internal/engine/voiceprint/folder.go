package voiceprint

// The people who are enrolled while the server runs: their prints are files in a folder.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	suffix  = ".print.json"
	maxFile = 64 << 10 // bytes of a file
	maxName = 64       // bytes of a name
)

// keptPrint is what a file has.
type keptPrint struct {
	Name  string
	Print []float32
}

// CheckName returns an error for a name that nobody can be enrolled under.
func CheckName(name string) error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '/' || r == unicode.ReplacementChar }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%w: the name %.80q: want 1 to %d bytes of printable text without a slash", pipeline.ErrEnrolment, name, maxName)
	}
	return nil
}

// KeepIn enrols the people whose prints are in a folder, and lets EnrolRecording keep prints there. It makes the folder if there is none. Only this process may write
// to the folder. Only one goroutine may call KeepIn, after all calls of Enrol. The error names the file that is wrong.
func (v *Verifier) KeepIn(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		name, p, err := readPrint(path)
		if err != nil {
			return fmt.Errorf("%s: %w: delete the file, and enrol the person again", path, err)
		}
		if v.people[name] != nil {
			return fmt.Errorf("%s: %s is enrolled twice: delete the file, or take the person out of the configuration", path, name)
		}
		if err := v.Enrol(name, p); err != nil {
			return err
		}
		v.kept[name] = true
	}
	v.folder = folder
	return nil
}

func readPrint(path string) (name string, p *Print, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", nil, err
	}
	var k keptPrint
	if err := json.Unmarshal(text, &k); err != nil {
		return "", nil, err
	}
	if len(k.Print) != size {
		return "", nil, fmt.Errorf("it has a print of %d numbers; want %d", len(k.Print), size)
	}
	p = (*Print)(k.Print)
	if l := p.Likeness(p); !(l > 0.9 && l < 1.1) {
		return "", nil, errors.New("its numbers are no print")
	}
	return k.Name, p, CheckName(k.Name)
}

func (v *Verifier) path(name string) string {
	h := sha256.Sum256([]byte(name))
	return filepath.Join(v.folder, hex.EncodeToString(h[:16])+suffix)
}

// Enrolled implements pipeline.Enroller.
func (v *Verifier) Enrolled() []string { return v.People() }

// EnrolRecording implements pipeline.Enroller. It works only after KeepIn.
func (v *Verifier) EnrolRecording(ctx context.Context, name string, pcm []float32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	p, err := v.OfRecordings(ctx, pcm)
	if errors.Is(err, ErrTooShort) {
		return fmt.Errorf("%w: %w", pipeline.ErrEnrolment, err)
	}
	if err != nil {
		return err
	}
	v.keeps.Lock()
	defer v.keeps.Unlock()
	known := v.knows(name)
	switch {
	case known && !v.kept[name]:
		return fmt.Errorf("%w: %s stands in the configuration: change it there", pipeline.ErrEnrolment, name)
	case !known && len(v.People()) >= MaxPeople:
		return fmt.Errorf("%w: %w", pipeline.ErrEnrolment, ErrTooManyPeople)
	}
	text, err := json.Marshal(keptPrint{name, p[:]})
	if err != nil {
		return err
	}
	if err := replaceFile(v.path(name), text); err != nil {
		return err
	}
	v.kept[name] = true
	return v.Enrol(name, p)
}

// Remove implements pipeline.Enroller.
func (v *Verifier) Remove(name string) error {
	v.keeps.Lock()
	defer v.keeps.Unlock()
	if !v.kept[name] {
		if v.knows(name) {
			return fmt.Errorf("%w: %s stands in the configuration: take the person out there", pipeline.ErrEnrolment, name)
		}
		return fmt.Errorf("%w: nobody called %.80q is enrolled", pipeline.ErrEnrolment, name)
	}
	if err := os.Remove(v.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	delete(v.kept, name)
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.people, name)
	return nil
}

// knows reports whether somebody of that name is enrolled.
func (v *Verifier) knows(name string) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.people[name] != nil
}

// replaceFile writes a file that only this user can read. After a crash the file has the old text or the new one.
func replaceFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
