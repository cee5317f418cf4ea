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

// The store of client secrets: creates them, finds them, and forgets them when they expire.

// SecretRules say what client secrets allow.
type SecretRules struct {
	// SingleUse lets a secret begin only one call; otherwise it begins any number of calls until it expires. A request that begins
	// no call does not use the secret up.
	SingleUse bool
	// Locks are the fields of the session that the holder of a secret may not change. The holder of an API key may change them.
	Locks settings.Locks
}

// Limits of the client secrets of a server.
const (
	maxSecrets      = 10_000
	maxSecretsBytes = 64 << 20 // size of the requests that created them
	secretOverhead  = 2 << 10  // counted for each secret in addition
)

// secretPrefix begins the protocol's client secrets.
const secretPrefix = "ek_"

// secretID names a secret within the server. It is a part of the secret's value and useless without the other parts.
type secretID [16]byte

// secret is what a client secret stands for.
type secret struct {
	id        secretID
	principal string // the principal whose key created it
	session   wire.Session
	expires   int64 // seconds since 1970
	size      int   // the size in bytes, with secretOverhead
	used      bool
}

// secretStore keeps the client secrets. The value of a secret contains its id, its expiry, and a message authentication code (seal)
// over both. The code's key lives as long as the server. So the store recognises an expired secret without keeping anything of it.
type secretStore struct {
	key [32]byte

	mu    sync.Mutex
	rules SecretRules
	byID  map[secretID]*secret
	queue expiryHeap // the secret that expires next is first
	bytes int

	perPrincipal int            // how many secrets one principal may have
	of           map[string]int // how many each principal has
}

func newSecretStore(rules SecretRules) *secretStore {
	v := &secretStore{rules: rules, byID: map[secretID]*secret{}, perPrincipal: maxSecrets, of: map[string]int{}}
	_, _ = rand.Read(v.key[:]) // never fails, see crypto/rand
	return v
}

const sealSize = 16

// secretCode encodes the 40 bytes of a value as 64 letters and digits.
var secretCode = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// value returns the text of a secret.
func (v *secretStore) value(id secretID, expires int64) string {
	text := binary.BigEndian.AppendUint64(id[:], uint64(expires))
	return secretPrefix + secretCode.EncodeToString(append(text, v.seal(text)...))
}

// seal returns the message authentication code of text.
func (v *secretStore) seal(text []byte) []byte {
	mac := hmac.New(sha256.New, v.key[:])
	mac.Write(text)
	return mac.Sum(nil)[:sealSize]
}

// read returns the id and expiry that a value contains. ok is false if this server did not make the value.
func (v *secretStore) read(value string) (id secretID, expires int64, ok bool) {
	const size = len(id) + 8 + sealSize
	text, is := strings.CutPrefix(value, secretPrefix)
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
	return secretID(said), int64(binary.BigEndian.Uint64(said[len(id):])), true
}

// create creates a secret. If there are too many, value is empty and wait says after how long there will be room. When the store is full
// and another principal has more secrets, that principal loses the one that expires next.
func (v *secretStore) create(principal string, settings wire.Session, size int, lifetime time.Duration) (value string, expires int64, wait time.Duration) {
	now := time.Now()
	s := &secret{principal: principal, session: settings, size: size + secretOverhead, expires: now.Add(lifetime).Unix()}
	_, _ = rand.Read(s.id[:]) // never fails, see crypto/rand
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(now)
	if v.of[principal] >= v.perPrincipal {
		return "", 0, time.Unix(v.queue[v.next(principal)].expires, 0).Sub(now)
	}
	for len(v.byID) >= maxSecrets || v.bytes+s.size > maxSecretsBytes {
		greedy := v.greediest()
		if v.of[greedy] <= v.of[principal]+1 {
			return "", 0, time.Unix(v.queue[0].expires, 0).Sub(now)
		}
		v.remove(v.next(greedy))
	}
	v.byID[s.id] = s
	heap.Push(&v.queue, s)
	v.bytes += s.size
	v.of[principal]++
	return v.value(s.id, s.expires), s.expires, 0
}

// forget removes the secrets that have expired. The caller holds mu.
func (v *secretStore) forget(now time.Time) {
	for len(v.queue) > 0 && v.queue[0].expires <= now.Unix() {
		v.remove(0)
	}
}

// remove removes the secret at that index of the queue. The caller holds mu.
func (v *secretStore) remove(index int) {
	s, _ := heap.Remove(&v.queue, index).(*secret)
	delete(v.byID, s.id)
	v.bytes -= s.size
	if v.of[s.principal]--; v.of[s.principal] == 0 {
		delete(v.of, s.principal)
	}
}

// next returns the index in the queue of the principal's secret that expires next. The principal has one. The caller holds mu.
func (v *secretStore) next(principal string) int {
	first := -1
	for i, s := range v.queue {
		if s.principal == principal && (first < 0 || s.expires < v.queue[first].expires) {
			first = i
		}
	}
	return first
}

// greediest returns the principal with most secrets. The caller holds mu.
func (v *secretStore) greediest() (principal string) {
	for name, n := range v.of {
		if n > v.of[principal] {
			principal = name
		}
	}
	return principal
}

// find returns the secret with that value. ok is false if the value is no secret of this server. For a secret that begins no call
// any more, stale is the response that says why.
func (v *secretStore) find(value string) (s *secret, stale *problem, ok bool) {
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

// secretUsed returns the response to a secret that has had its only use.
func secretUsed() *problem {
	return refused("client_secret_used", "the client secret was for one call: make a new one with POST /v1/realtime/client_secrets")
}

// use notes that a call uses the secret. It reports false for a secret that has had its only use.
func (v *secretStore) use(s *secret) bool {
	if s == nil {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.rules.SingleUse {
		return true
	}
	if s.used {
		return false
	}
	s.used = true
	return true
}

// giveBack undoes use for a call that never began.
func (v *secretStore) giveBack(s *secret) {
	if s == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s.used = false
}

// locks returns the fields of a session that the requester may not change.
func (v *secretStore) locks(who requester) settings.Locks {
	if who.secret == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.rules.Locks
}

// expiryHeap is a heap of secrets by their expiry.
type expiryHeap []*secret

func (e expiryHeap) Len() int           { return len(e) }
func (e expiryHeap) Less(i, j int) bool { return e[i].expires < e[j].expires }
func (e expiryHeap) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface. Only create pushes.
func (e *expiryHeap) Push(s any) { *e = append(*e, s.(*secret)) }

// Pop implements heap.Interface.
func (e *expiryHeap) Pop() any {
	last := len(*e) - 1
	s := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return s
}
