package session

import (
	"crypto/rand"
	"encoding/base32"
)

var idAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newID returns a name that is unique in the world and cannot be guessed: prefix and 24 letters (120 random bits).
func newID(prefix string) string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return prefix + idAlphabet.EncodeToString(b[:])
}
