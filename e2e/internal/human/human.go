// Package human has sentences that a person speaks, for tests and measurements: the prompts of Debian's packages asterisk-core-sounds-en
// (texts) and asterisk-core-sounds-en-g722 (wide-band audio).
package human

// This file finds the prompts and their texts.

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Rate is the sample rate of the prompts.
const Rate = 16000

// Where Debian's packages have the prompts and the texts.
const (
	sounds = "/usr/share/asterisk/sounds/en_US_f_Allison/"
	texts  = "/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz"
)

// ErrNotInstalled is the error if the packages are not on this machine.
var ErrNotInstalled = errors.New("no prompts: install asterisk-core-sounds-en and asterisk-core-sounds-en-g722")

// Prompt returns the samples of a prompt, mono at Rate.
func Prompt(name string) ([]int16, error) {
	code, err := os.ReadFile(sounds + name + ".g722")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	return decode(code), nil
}

// Recording returns the samples of a file in G.722 at 64 kbit/s, mono at Rate. Debian's other packages of Asterisk have such files, in
// /usr/share/asterisk.
func Recording(path string) ([]int16, error) {
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(code), nil
}

// Texts returns what is said in each prompt, by the names of the prompts. A text in square brackets or angle brackets describes a sound.
func Texts() (map[string]string, error) {
	f, err := os.Open(texts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), ":")
		if ok && !strings.HasPrefix(name, ";") {
			all[strings.TrimSpace(name)] = strings.TrimSpace(text)
		}
	}
	return all, lines.Err()
}
