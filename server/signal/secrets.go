package signal

import (
	"container/heap"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/wire"
)

// SecretRules say what client secrets allow.
type SecretRules struct {
	// SingleUse lets a secret begin one call; else it begins any number until it expires. A request that begins no call
	// leaves a secret as it is.
	SingleUse bool
	// Locks are the fields of the session that the holder of a secret may not change. Whoever has an API key may.
	Locks settings.Locks
}

// Limits of the client secrets of a server.
const (
	maxSecrets      = 10_000
	maxSecretsBytes = 64 << 20 // of the sessions bound into them, as they came
	secretOverhead  = 2 << 10  // counted for each beside that
)

// secretPrefix is how the protocol's client secrets begin.
const secretPrefix = "ek_"

// secretID names a secret within the server. It is part of the secret's value, and useless without the rest.
type secretID [16]byte

// secret is what a client secret stands for.
type secret struct {
	id        secretID
	principal string // whose key has made it
	session   wire.Session
	expires   int64 // seconds since 1970
	size      int
	used      bool
}

// vault keeps the client secrets. A secret's value holds its name, its end and a seal over both, made with a key that lives as
// long as the server: so that an expired secret is told from one that never was, and nothing is kept of it.
type vault struct {
	rules SecretRules
	key   [32]byte

	mu    sync.Mutex
	byID  map[secretID]*secret
	queue expiry // the next to expire is first
	bytes int
}

func newVault(rules SecretRules) *vault {
	v := &vault{rules: rules, byID: map[secretID]*secret{}}
	_, _ = rand.Read(v.key[:]) // never fails, see crypto/rand
	return v
}

const sealSize = 16

// secretCode writes the 40 bytes of a value as 64 letters.
var secretCode = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (v *vault) value(id secretID, expires int64) string {
	text := binary.BigEndian.AppendUint64(id[:], uint64(expires))
	return secretPrefix + secretCode.EncodeToString(append(text, v.seal(text)...))
}

func (v *vault) seal(text []byte) []byte {
	mac := hmac.New(sha256.New, v.key[:])
	mac.Write(text)
	return mac.Sum(nil)[:sealSize]
}

// read checks that value is one of this server's.
func (v *vault) read(value string) (id secretID, expires int64, ok bool) {
	const size = len(id) + 8 + sealSize
	text, is := strings.CutPrefix(value, secretPrefix)
	if !is || len(text) != secretCode.EncodedLen(size) {
		return id, 0, false
	}
	raw, err := secretCode.DecodeString(text)
	if err != nil || len(raw) != size { // the decoder passes over line ends
		return id, 0, false
	}
	said, seal := raw[:len(id)+8], raw[len(id)+8:]
	if !hmac.Equal(seal, v.seal(said)) {
		return id, 0, false
	}
	return secretID(said), int64(binary.BigEndian.Uint64(said[len(id):])), true
}

// mint makes a secret. When there are too many it makes none, and says after how long there will be room.
func (v *vault) mint(principal string, settings wire.Session, size int, lifetime time.Duration) (value string, expires int64, wait time.Duration) {
	now := time.Now()
	s := &secret{principal: principal, session: settings, size: size + secretOverhead, expires: now.Add(lifetime).Unix()}
	_, _ = rand.Read(s.id[:]) // never fails, see crypto/rand
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(now)
	if len(v.byID) >= maxSecrets || v.bytes+s.size > maxSecretsBytes {
		return "", 0, time.Unix(v.queue[0].expires, 0).Sub(now)
	}
	v.byID[s.id] = s
	heap.Push(&v.queue, s)
	v.bytes += s.size
	return v.value(s.id, s.expires), s.expires, 0
}

// forget lets go of what has expired.
func (v *vault) forget(now time.Time) {
	for len(v.queue) > 0 && v.queue[0].expires <= now.Unix() {
		s, _ := heap.Pop(&v.queue).(*secret)
		delete(v.byID, s.id)
		v.bytes -= s.size
	}
}

// find is what value stands for: ok is false for what is no secret of this server. A secret that begins no call any more comes
// with the reason.
func (v *vault) find(value string) (s *secret, stale *problem, ok bool) {
	id, expires, ok := v.read(value)
	if !ok {
		return nil, nil, false
	}
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(now)
	s = v.byID[id]
	switch {
	case s == nil:
		return &secret{id: id, expires: expires}, refused("client_secret_expired", "the client secret has expired: make a new one with POST /v1/realtime/client_secrets"), true
	case s.used:
		return s, secretUsed(), true
	}
	return s, nil, true
}

func secretUsed() *problem {
	return refused("client_secret_used", "the client secret was for one call: make a new one with POST /v1/realtime/client_secrets")
}

// use takes what a call needs of a secret; false is a secret that had one use.
func (v *vault) use(s *secret) bool {
	if s == nil || !v.rules.SingleUse {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.used {
		return false
	}
	s.used = true
	return true
}

// giveBack is for a call that never began.
func (v *vault) giveBack(s *secret) {
	if s == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s.used = false
}

// locks are the fields that this caller may not change.
func (v *vault) locks(who caller) settings.Locks {
	if who.secret == nil {
		return nil
	}
	return v.rules.Locks
}

// expiry is a heap of secrets by their end.
type expiry []*secret

func (e expiry) Len() int           { return len(e) }
func (e expiry) Less(i, j int) bool { return e[i].expires < e[j].expires }
func (e expiry) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface. Only mint pushes.
func (e *expiry) Push(s any) { *e = append(*e, s.(*secret)) }

// Pop implements heap.Interface.
func (e *expiry) Pop() any {
	last := len(*e) - 1
	s := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return s
}
