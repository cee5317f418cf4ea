// Package secrets keeps client secrets: short-lived keys for pages and devices, which are bound to the settings of a session.
package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// What a client secret is, and its text.

// ID names a secret. It is a part of the secret's value and useless without the other parts.
type ID [16]byte

// Secret is what a client secret stands for.
type Secret struct {
	ID        ID
	Principal string       // the principal whose key created it
	Session   wire.Session // the settings that it is bound to
	Size      int          // how many bytes the settings take in memory, about
	Expires   int64        // seconds since 1970
}

// New is a secret that a principal wants.
type New struct {
	Principal string
	Session   wire.Session
	Lifetime  time.Duration
	Most      int // how many secrets the principal may have
}

// Errors of a Store.
var (
	// ErrTooMany: there is no room for another secret.
	ErrTooMany = errors.New("there are as many client secrets as there may be")
	// ErrExpired: the secret begins no call any more.
	ErrExpired = errors.New("the client secret has expired")
	// ErrUsed: the secret was for one call and has begun it.
	ErrUsed = errors.New("the client secret was for one call")
)

// prefix begins the protocol's client secrets.
const prefix = "ek_"

// sealer makes the values of secrets. A value contains the id of the secret, its expiry, and a message authentication code (seal) over both. So a
// store recognises an expired secret without keeping anything of it.
type sealer struct{ key [32]byte }

// sealSize is the length of a seal, in bytes.
const sealSize = 16

// secretCode encodes the 40 bytes of a value as 64 letters and digits.
var secretCode = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// value returns the text of a secret.
func (v *sealer) value(id ID, expires int64) string {
	text := binary.BigEndian.AppendUint64(id[:], uint64(expires))
	return prefix + secretCode.EncodeToString(append(text, v.seal(text)...))
}

// seal returns the message authentication code of text.
func (v *sealer) seal(text []byte) []byte {
	mac := hmac.New(sha256.New, v.key[:])
	mac.Write(text)
	return mac.Sum(nil)[:sealSize]
}

// read returns the id and expiry that a value contains. ok is false if this server did not make the value.
func (v *sealer) read(value string) (id ID, expires int64, ok bool) {
	const size = len(id) + 8 + sealSize
	text, is := strings.CutPrefix(value, prefix)
	if !is || len(text) != secretCode.EncodedLen(size) {
		return id, 0, false
	}
	raw, err := secretCode.DecodeString(text)
	if err != nil || len(raw) != size { // the decoder ignores line ends
		return id, 0, false
	}
	said, seal := raw[:len(id)+8], raw[len(id)+8:]
	if !hmac.Equal(seal, v.seal(said)) {
		return id, 0, false
	}
	return ID(said), int64(binary.BigEndian.Uint64(said[len(id):])), true
}
