// Package apikey has the API keys of a server: how they are made, the files that have them, and whose key it is.
//
// This file has all of the package.
package apikey

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Key is an API key, kept as its SHA-256.
type Key struct {
	Sum [sha256.Size]byte
	// Name is the principal whose key it is. Keys with the same name belong to the same principal: they share its rate limits and
	// control each other's calls. A key without a name is a principal of its own.
	Name string
	// Plain reports that the file had the key itself and not its hash.
	Plain bool
}

// Keys are the API keys of a server.
type Keys []Key

// Limits of a key file and of its lines.
const (
	maxKeys   = 10_000
	minKey    = 16
	maxName   = 64
	sumPrefix = "sha256:"
)

// New returns a new API key of 160 random bits, which only its holder should keep, and its line for a key file. name is the principal's name and may be empty.
func New(name string) (key, line string, err error) {
	var random [20]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand
	key = "ak_" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	line, err = Line(key, name)
	return key, line, err
}

// Line returns the line of a key file for a key: sha256:HEX, and the principal's name if it has one.
func Line(key, name string) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(key))
	return strings.TrimSpace(sumPrefix + hex.EncodeToString(sum[:]) + " " + name), nil
}

// Read reads a key file, one key a line: "sha256:HEX", then a space and the principal's name, which may be left out. A line without sha256: is the key itself; it works, but
// everyone who reads the file knows it. Read skips empty lines and lines that begin with #. `antiphon key` makes a key and its line.
func Read(r io.Reader) (Keys, error) {
	var keys Keys
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if len(keys) == maxKeys {
			return nil, fmt.Errorf("more than %d keys", maxKeys)
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		keys = append(keys, k)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it: put the line there that `antiphon key` prints")
	}
	return keys, nil
}

func parseKey(line string) (Key, error) {
	text, hashed := strings.CutPrefix(line, sumPrefix)
	if !hashed {
		if err := checkKey(line); err != nil {
			return Key{}, err
		}
		sum := sha256.Sum256([]byte(line))
		return Key{Sum: sum, Name: nameless(sum), Plain: true}, nil
	}
	digits, name, _ := strings.Cut(text, " ")
	sum, err := hex.DecodeString(digits)
	if err != nil || len(sum) != sha256.Size {
		return Key{}, fmt.Errorf("want %s and 64 hexadecimal digits, and maybe a name after a space", sumPrefix)
	}
	k := Key{Sum: [sha256.Size]byte(sum), Name: strings.TrimSpace(name)}
	if k.Name == "" {
		k.Name = nameless(k.Sum)
	}
	return k, checkName(k.Name)
}

// nameless returns the principal's name for a key without a name. The name does not reveal the key.
func nameless(sum [sha256.Size]byte) string { return "key-" + hex.EncodeToString(sum[:6]) }

func checkKey(key string) error {
	switch {
	case len(key) < minKey:
		return fmt.Errorf("a key of %d characters is too short: use at least %d, such as `antiphon key` prints", len(key), minKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII }):
		return errors.New("a key with spaces, or with other than ASCII characters, cannot be sent: take one that `antiphon key` prints")
	}
	return nil
}

func checkName(name string) error {
	if len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return fmt.Errorf("a principal's name has at most %d bytes of UTF-8 and no control characters", maxName)
	}
	return nil
}

// Principal returns whose key it is. ok is false for an unknown key. It takes the same time whether key is among them or not.
func (k Keys) Principal(key string) (name string, ok bool) {
	sum := sha256.Sum256([]byte(key))
	at := -1
	for i := range k {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(k[i].Sum[:], sum[:]), i, at)
	}
	if at < 0 {
		return "", false
	}
	return k[at].Name, true
}

// Principals returns how many principals have a key.
func (k Keys) Principals() int {
	names := map[string]bool{}
	for _, key := range k {
		names[key.Name] = true
	}
	return len(names)
}

// Has reports whether a principal has a key.
func (k Keys) Has(principal string) bool {
	return slices.ContainsFunc(k, func(key Key) bool { return key.Name == principal })
}
