package secrets

// The store of client secrets: creates them in a bucket, and finds them there. Several servers may share the bucket.

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/wire"
)

// Bucket is where secrets are kept. A store.Bucket has all of it but SealKey and Now. It is safe for concurrent use.
type Bucket interface {
	// SealKey returns the key of the values of secrets, which all servers have.
	SealKey() [32]byte
	// Get returns a value, or steps.ErrNotFound.
	Get(ctx context.Context, key string) (steps.Version, error)
	// Update stores a value if the key still has that revision; 0 means that the key has no value. It returns the new revision, or steps.ErrConflict if somebody else was first.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, key string) error
	// Keys returns all keys.
	Keys(ctx context.Context) ([]string, error)
	// Now returns the time of the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// ErrUnavailable: the store of the secrets does not answer.
var ErrUnavailable = errors.New("the store of client secrets does not answer")

// ErrTooLarge: the settings of a secret take too much room.
var ErrTooLarge = errors.New("the settings of a client secret are too large")

// Limits of a Store.
const (
	Max      = 10_000   // secrets at a time
	maxBytes = 64 << 20 // size of all of them
	overhead = 2 << 10  // counted for each secret in addition

	// answerWithin limits each operation.
	answerWithin = 2 * time.Second
	// listFor is how long the list of secrets counts. Secrets that other servers have made meanwhile do not count yet.
	listFor = time.Second
	// largest is the size of one stored secret, and longestText the size of its JSON, in bytes.
	largest     = 800 << 10
	longestText = 4 << 20
	ownerSize   = 6
	sizeUnit    = 1 << 10
	// maxCreating is how many requests create a secret, or wait for that, in shares of their principals.
	maxCreating = 64
	// maxReading is how many requests read a secret at a time, in shares of their principals: to read large settings takes time and memory.
	maxReading = 16
)

// Store keeps client secrets in a Bucket. The id of a secret has a hash of its principal and its size, so the keys alone say who has how many. It is safe for concurrent use.
type Store struct {
	sealer
	bucket Bucket

	reading  *account.Budget // for requests that read a secret
	places   *account.Budget // for requests that create a secret, or wait
	creating chan struct{}   // has a token while a request creates a secret: one at a time
	known    map[ID]int64    // the expiry of each secret that there is
	listed   time.Time
}

// NewStore returns a Store that keeps its secrets in a Bucket; in the memory of this server if that is nil.
func NewStore(in Bucket) *Store {
	places := account.New(maxCreating)
	if in == nil {
		in, places = newMemory(), nil // it answers at once
	}
	return &Store{sealer: sealer{in.SealKey()}, bucket: in, reading: account.New(maxReading), places: places, creating: make(chan struct{}, 1), known: map[ID]int64{}}
}

// stored is a secret as the bucket has it.
type stored struct {
	Principal string
	Session   wire.Session
	Used      bool
	// Hidden are the secrets of the tools of the Session, in their order: the JSON of a session has none.
	Hidden []wire.Raw `json:",omitempty"`

	size int // of its text
}

// idOf returns a new id for a secret of a principal with that size in bytes.
func idOf(principal string, size int) (id ID) {
	_, _ = rand.Read(id[:]) // never fails, see crypto/rand
	owner := sha256.Sum256([]byte(principal))
	copy(id[:ownerSize], owner[:])
	binary.BigEndian.PutUint16(id[ownerSize:], uint16(size/sizeUnit+1)) //nolint:gosec // at most largest/sizeUnit
	return id
}

func (id ID) owner() [ownerSize]byte { return [ownerSize]byte(id[:ownerSize]) }
func (id ID) size() int {
	return int(binary.BigEndian.Uint16(id[ownerSize:]))*sizeUnit + overhead
}

// keyLetters writes an id as a part of a key.
var keyLetters = base32.StdEncoding.WithPadding(base32.NoPadding)

// keyOf returns the key of a secret.
func keyOf(id ID, expires int64) string {
	return keyLetters.EncodeToString(binary.BigEndian.AppendUint64(id[:], uint64(expires))) //nolint:gosec // seconds since 1970
}

// readKey returns the id and the expiry that a key has.
func readKey(key string) (id ID, expires int64, ok bool) {
	raw, err := keyLetters.DecodeString(key)
	if err != nil || len(raw) != len(id)+8 {
		return id, 0, false
	}
	return ID(raw), int64(binary.BigEndian.Uint64(raw[len(id):])), true //nolint:gosec // seconds since 1970
}

// encode returns a secret as the bucket has it.
func encode(s stored) ([]byte, error) {
	for i, t := range s.Session.Tools {
		if t.Secret != nil {
			s.Hidden = append(s.Hidden, make([]wire.Raw, i+1-len(s.Hidden))...)
			s.Hidden[i] = t.Secret
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil && (out.Len() > largest || len(text) > longestText) {
		err = ErrTooLarge
	}
	return out.Bytes(), err
}

func decode(value []byte) (s stored, err error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(value)), longestText))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	s.size = len(text)
	for i := range min(len(s.Hidden), len(s.Session.Tools)) {
		s.Session.Tools[i].Secret = s.Hidden[i]
	}
	return s, err
}

// now returns the time of the store's clock, or that of this server if the store does not answer.
func (v *Store) now(ctx context.Context) time.Time {
	if now, err := v.bucket.Now(ctx); err == nil {
		return now
	}
	return time.Now()
}

// Create creates a secret. expires is in seconds since 1970. With ErrTooMany, wait says after how long there will be room. When there are as many secrets, or as many bytes of them, as there may be and another principal has more, that principal loses the one that expires next. A secret that is not created counts for nobody.
func (v *Store) Create(ctx context.Context, made New) (value string, expires int64, wait time.Duration, err error) {
	text, err := encode(stored{Principal: made.Principal, Session: made.Session})
	if err != nil {
		return "", 0, 0, err
	}
	if v.places.Take(made.Principal, 1) != nil {
		return "", 0, time.Second, ErrTooMany
	}
	defer v.places.Give(made.Principal, 1)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var doubtful string
	defer func() { v.remove(ctx, doubtful) }()
	select {
	case v.creating <- struct{}{}:
		defer func() { <-v.creating }()
	case <-ctx.Done():
		return "", 0, 0, ErrUnavailable
	}
	now := v.now(ctx)
	id, expires := idOf(made.Principal, len(text)), now.Add(made.Lifetime).Unix()
	if err := v.list(ctx, now); err != nil {
		return "", 0, 0, unavailable(err)
	}
	if wait, err := v.makeRoom(ctx, id, made.Most, now); err != nil {
		return "", 0, wait, err
	}
	if _, err := v.bucket.Update(ctx, keyOf(id, expires), text, 0); err != nil {
		doubtful = keyOf(id, expires)
		return "", 0, 0, unavailable(err)
	}
	v.known[id] = expires
	return v.value(id, expires), expires, 0, nil
}

// remove removes a secret that nobody has got: the store may have it, although it has not answered in time. Without that it would count for its principal until it expires.
func (v *Store) remove(ctx context.Context, key string) {
	if key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	_ = v.bucket.Delete(ctx, key) // it counts until it expires
}

// unavailable returns an error of the bucket as an ErrUnavailable.
func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

// list reads which secrets there are, unless it has done so a moment ago, and forgets those that have expired. The caller's token is in creating.
func (v *Store) list(ctx context.Context, now time.Time) error {
	if time.Since(v.listed) >= listFor {
		keys, err := v.bucket.Keys(ctx)
		if err != nil {
			return err
		}
		v.listed = time.Now()
		clear(v.known)
		for _, key := range keys {
			if id, expires, ok := readKey(key); ok {
				v.known[id] = expires
			}
		}
	}
	for id, expires := range v.known {
		if expires <= now.Unix() {
			delete(v.known, id) // the bucket forgets it later
		}
	}
	return nil
}

// makeRoom makes room for a secret of a principal who may have most. With ErrTooMany, wait says after how long there will be room. The caller's token is in creating.
func (v *Store) makeRoom(ctx context.Context, made ID, most int, now time.Time) (wait time.Duration, err error) {
	until := func(id ID) time.Duration { return time.Unix(v.known[id], 0).Sub(now) }
	all := func(ID) bool { return true }
	of := func(owner [ownerSize]byte) func(ID) bool { return func(id ID) bool { return id.owner() == owner } }
	counts, sizes, size := v.counts()
	if counts[made.owner()] >= most {
		return until(v.next(of(made.owner()))), ErrTooMany
	}
	for len(v.known) >= Max || size+made.size() > maxBytes {
		held, more := sizes, made.size() // who has most of what is short makes room
		if len(v.known) >= Max {
			held, more = counts, 1
		}
		var greedy [ownerSize]byte
		for owner, n := range held {
			if n > held[greedy] {
				greedy = owner
			}
		}
		if held[greedy] <= held[made.owner()]+more {
			return until(v.next(all)), ErrTooMany
		}
		last := v.next(of(greedy))
		if err := v.bucket.Delete(ctx, keyOf(last, v.known[last])); err != nil {
			return 0, unavailable(err)
		}
		delete(v.known, last)
		counts[greedy]--
		sizes[greedy] -= last.size()
		size -= last.size()
	}
	return 0, nil
}

// counts returns how many secrets each principal has, their size, and the size of all.
func (v *Store) counts() (of, sizes map[[ownerSize]byte]int, size int) {
	of, sizes = map[[ownerSize]byte]int{}, map[[ownerSize]byte]int{}
	for id := range v.known {
		of[id.owner()]++
		sizes[id.owner()] += id.size()
		size += id.size()
	}
	return of, sizes, size
}

// next returns the secret that expires first of those for which matches is true.
func (v *Store) next(matches func(ID) bool) (first ID) {
	soonest := int64(math.MaxInt64)
	for id, expires := range v.known {
		if expires < soonest && matches(id) {
			first, soonest = id, expires
		}
	}
	return first
}

// Find returns the secret with that value. known is false if the value is no secret of this store. For a secret that begins no call any more, stale says why: ErrExpired or
// ErrUsed, or ErrUnavailable if the store does not answer. It still controls the calls that it has begun.
func (v *Store) Find(ctx context.Context, value string) (s *Secret, known bool, stale error) {
	id, expires, ok := v.read(value)
	if !ok {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s = &Secret{ID: id, Expires: expires}
	if expires <= v.now(ctx).Unix() {
		return s, true, ErrExpired
	}
	owner := string(id[:ownerSize])
	if v.reading.Wait(ctx.Done(), owner, 1) != nil {
		return s, true, ErrUnavailable
	}
	defer v.reading.Give(owner, 1)
	got, _, err := v.get(ctx, s)
	if err != nil {
		return s, true, err
	}
	s.Size = got.size
	s.Principal, s.Session = got.Principal, got.Session
	if got.Used {
		return s, true, ErrUsed
	}
	return s, true, nil
}

// get reads a secret. The error is ErrExpired for one that made room for others.
func (v *Store) get(ctx context.Context, s *Secret) (got stored, revision uint64, err error) {
	found, err := v.bucket.Get(ctx, keyOf(s.ID, s.Expires))
	if errors.Is(err, steps.ErrNotFound) {
		return got, 0, ErrExpired
	}
	if err == nil {
		got, err = decode(found.Value)
	}
	if err != nil {
		return got, 0, unavailable(err)
	}
	return got, found.Revision, nil
}

// Use notes that the secret has begun a call. It returns ErrUsed if the secret has begun one before. Of several servers that use a secret at the same time, one succeeds.
func (v *Store) Use(ctx context.Context, s *Secret) error { return v.mark(ctx, s, true) }

// GiveBack undoes Use for a call that never began. If the store does not answer, the secret stays used.
func (v *Store) GiveBack(ctx context.Context, s *Secret) { _ = v.mark(ctx, s, false) }

// mark notes whether a secret is used.
func (v *Store) mark(ctx context.Context, s *Secret, used bool) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, revision, err := v.get(ctx, s)
	if err != nil {
		return err
	}
	if used && got.Used {
		return ErrUsed
	}
	got.Used = used
	value, err := encode(got)
	if err != nil {
		return err
	}
	_, err = v.bucket.Update(ctx, keyOf(s.ID, s.Expires), value, revision)
	switch {
	case errors.Is(err, steps.ErrConflict):
		return ErrUsed
	case err != nil:
		return unavailable(err)
	}
	return nil
}

// Len returns how many secrets there were when this server last created one, or 0 while it creates one.
func (v *Store) Len() int {
	select {
	case v.creating <- struct{}{}:
		defer func() { <-v.creating }()
		return len(v.known)
	default: // a secret is being created
		return 0
	}
}
