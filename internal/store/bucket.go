package store

// A bucket: named values with compare and swap.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/antiphon-rt/antiphon/internal/steps"
)

// BucketConfig describes a bucket.
type BucketConfig struct {
	// Name has letters, digits, _ and -.
	Name string
	// Keep is how long a value stays after it was last written; 0 keeps it.
	Keep time.Duration
	// MaxBytes is the limit of all values with what the store adds to each; 0 takes half of the store's limit.
	MaxBytes int64
	// MaxValue is the limit of one value in bytes, at most 900 KiB; 0 takes this.
	MaxValue int32
	// History is how many versions of a value are kept: 1 to 64; 0 takes 1. Tests read the earlier ones.
	History uint8
	// Anew is called when the NATS server has lost the bucket with all its values, and the bucket was made anew; nil for nobody. It does not block for long.
	Anew func()
}

// maxValue is the largest value: a message of NATS has 1 MiB.
const maxValue = 900 << 10

// Entry is one version of a value. Its revision grows with each write to the bucket, and its time is by the clock of the store.
type Entry = steps.Version

// Bucket is an open bucket. It is safe for concurrent use.
type Bucket struct {
	*stream
	kv    jetstream.KeyValue
	limit int64
	room  room
}

// Bucket opens a bucket and creates it if it is not there. If it is there with other limits, it gets those of cfg.
func (s *Store) Bucket(ctx context.Context, cfg BucketConfig) (*Bucket, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = s.cfg.MaxBytes / 2
	}
	if cfg.MaxValue == 0 || cfg.MaxValue > maxValue {
		cfg.MaxValue = maxValue
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	b := &Bucket{limit: cfg.MaxBytes}
	var err error
	b.stream, err = s.newStream(ctx, "KV_"+cfg.Name, cfg.Anew, func(ctx context.Context) error {
		kv, err := s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: cfg.Name, TTL: cfg.Keep, MaxBytes: cfg.MaxBytes, MaxValueSize: cfg.MaxValue, History: max(cfg.History, 1),
			Storage: s.storage(), Replicas: s.cfg.Replicas,
		})
		if b.kv == nil {
			b.kv = kv
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", cfg.Name, s.notMade(cfg.MaxBytes, err))
	}
	return b, nil
}

// Get returns the newest version of a value, or ErrNotFound.
func (b *Bucket) Get(ctx context.Context, key string) (found Entry, err error) {
	err = b.read(ctx, func(ctx context.Context) error {
		e, err := b.kv.Get(ctx, key)
		if err == nil {
			found = Entry{Value: e.Value(), Revision: e.Revision(), Written: e.Created()}
		}
		return err
	})
	return found, err
}

// Place returns the place of a value, for steps. A bucket keeps the newest version of a value: it has none after a revision but that.
func (b *Bucket) Place(key string) steps.Place { return bucketPlace{b, key} }

type bucketPlace struct {
	*Bucket
	key string
}

func (p bucketPlace) Newest(ctx context.Context) (Entry, error) { return p.Get(ctx, p.key) }

func (p bucketPlace) After(ctx context.Context, revision uint64) (Entry, error) {
	e, err := p.Get(ctx, p.key)
	if err == nil && e.Revision <= revision {
		return Entry{}, ErrNotFound
	}
	return e, err
}

func (p bucketPlace) Write(ctx context.Context, value []byte, revision uint64) (uint64, error) {
	return p.Update(ctx, p.key, value, revision)
}

// Update stores a value if the newest version still has this revision; 0 means that the key has no value yet. It returns the new revision, or
// ErrConflict.
func (b *Bucket) Update(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	err = b.write(ctx, func(ctx context.Context) error {
		next, err = b.kv.Update(ctx, key, value, revision)
		return err
	})
	return next, err
}

// Put stores a value, whatever was there.
func (b *Bucket) Put(ctx context.Context, key string, value []byte) error {
	return b.write(ctx, func(ctx context.Context) error {
		_, err := b.kv.Put(ctx, key, value)
		return err
	})
}

// History returns the versions of a value that the bucket keeps, the oldest first.
func (b *Bucket) History(ctx context.Context, key string) (entries []Entry, err error) {
	err = b.read(ctx, func(ctx context.Context) error {
		all, err := b.kv.History(ctx, key)
		for _, e := range all {
			entries = append(entries, Entry{Value: e.Value(), Revision: e.Revision(), Written: e.Created()})
		}
		return err
	})
	return entries, err
}

// Delete removes a value. A key without a value is no error. Nothing of the key stays: a marker, as NATS leaves one, would count against the limit.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.write(ctx, func(ctx context.Context) error {
		values, err := b.of.js.Stream(ctx, b.name)
		if err != nil {
			return err
		}
		return values.Purge(ctx, jetstream.WithPurgeSubject(b.prefix()+key))
	})
}

// Keys returns all keys that have a value, in no order. It asks for the names alone: a watch of NATS may wait for ever for a value that was deleted
// after it began.
func (b *Bucket) Keys(ctx context.Context) (keys []string, err error) {
	err = b.read(ctx, func(ctx context.Context) error {
		values, err := b.of.js.Stream(ctx, b.name)
		if err != nil {
			return err
		}
		info, err := values.Info(ctx, jetstream.WithSubjectFilter(b.prefix()+">"))
		if err != nil {
			return err
		}
		for subject := range info.State.Subjects {
			keys = append(keys, strings.TrimPrefix(subject, b.prefix()))
		}
		return nil
	})
	return keys, err
}

// prefix begins the subject of each value in that stream.
func (b *Bucket) prefix() string { return "$KV." + b.kv.Bucket() + "." }

// Room returns ErrFull if nothing new may begin: nine tenths of the bucket are used, or the disk has only its reserve left. What has begun may
// still write.
func (b *Bucket) Room(ctx context.Context) error {
	return b.room.get(func() error { return b.findRoom(ctx) })
}

func (b *Bucket) findRoom(ctx context.Context) error {
	return b.findRoomFor(ctx, 9, b.limit, func(ctx context.Context) (used uint64, err error) {
		status, err := b.kv.Status(ctx)
		if err == nil {
			used = status.Bytes()
		}
		return used, err
	})
}

// unavailable returns ErrNotFound, ErrConflict, ErrFull, or an error that wraps ErrUnavailable, for an error of NATS.
func unavailable(err error) error {
	var api jetstream.JetStreamError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrMsgNotFound):
		return ErrNotFound
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return ErrConflict
	case errors.As(err, &api) && api.APIError() != nil && fullCodes[api.APIError().ErrorCode]:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("a value is too large for the store: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// notMade returns the error for a bucket or a log of so many bytes that NATS has not made because of err.
func (s *Store) notMade(maxBytes int64, err error) error {
	err = unavailable(err)
	if s.own != nil || !errors.Is(err, ErrFull) {
		return err
	}
	return fmt.Errorf("the NATS server does not allow the %d MB that it may take: set max_file_store in the section jetstream of its configuration to %d MB or more: %w",
		maxBytes>>20, 2*s.cfg.MaxBytes>>20, err)
}

// fullCodes are the errors of JetStream that mean that a limit is reached: of the account, of the server, of memory, of files, of a stream.
var fullCodes = map[jetstream.ErrorCode]bool{10002: true, 10023: true, 10028: true, 10047: true, 10077: true, 10122: true}
