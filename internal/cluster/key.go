package cluster

// Keys that all servers of a store have: they make one, find it, and put it back if the store has lost it.

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/store"
)

const (
	keyBucket = "cluster"
	keySize   = 32
	// putTries is how often a server tries to put its key back.
	putTries = 3
)

// sharedKey returns a key that all servers of the store have, and makes one if the store has none of that name. If the store loses its data, the server puts the key back: others
// that start later have the same one.
func sharedKey(ctx context.Context, in *store.Store, name string, logger *slog.Logger) (sealKey, error) {
	var back atomic.Pointer[func()]
	b, err := in.Bucket(ctx, store.BucketConfig{Name: keyBucket, MaxBytes: 1 << 20, MaxValue: 1 << 10, Anew: func() {
		if put := back.Load(); put != nil {
			(*put)()
		}
	}})
	if err != nil {
		return nil, err
	}
	own := make([]byte, keySize)
	_, _ = rand.Read(own) // never fails, see crypto/rand
	key, err := putKey(ctx, b, name, own)
	if err != nil {
		return nil, err
	}
	put := func() { putBack(b, name, key, logger) }
	back.Store(&put)
	return key, nil
}

// putKey puts a key where none is, and returns the one that is there then.
func putKey(ctx context.Context, b *store.Bucket, name string, own []byte) (sealKey, error) {
	if _, err := b.Update(ctx, name, own, 0); err == nil {
		return own, nil
	} else if !errors.Is(err, store.ErrConflict) {
		return nil, err
	}
	e, err := b.Get(ctx, name)
	if err == nil && len(e.Value) != keySize {
		err = errors.New("the key of the cluster in the store is damaged: remove the bucket " + keyBucket)
	}
	return e.Value, err
}

// putBack puts a key back that the store has lost.
func putBack(b *store.Bucket, name string, own sealKey, logger *slog.Logger) {
	var there sealKey
	var err error
	for range putTries {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		there, err = putKey(ctx, b, name, own)
		cancel()
		if err == nil {
			break
		}
	}
	switch {
	case err != nil:
		logger.Error("cluster: a key that the store has lost cannot be put back: restart the servers one after the other", "key", name, "err", err)
	case !bytes.Equal(there, own):
		logger.Error("cluster: the store has lost its data, and a server that has just started has made another key: restart that server", "key", name)
	}
}
