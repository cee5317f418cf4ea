package cluster

// Client secrets in the store. All servers on the store have them, and the same server after a restart, also without a cluster.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// SecretBucket keeps the client secrets of servers that share a store. It is a httpapi.SecretBucket, and safe for concurrent use.
type SecretBucket struct {
	store  *store.Store
	bucket *store.Bucket
	key    [32]byte
}

const (
	secretsBucket = "client-secrets"
	secretsKey    = "client-secrets" // the name of the key of their values
	// keepSecrets is longer than the longest life of a client secret, which is 2 hours.
	keepSecrets = 150 * time.Minute
	maxSecrets  = 96 << 20
)

// OpenSecrets opens the bucket of client secrets of a store. The logger is told when the store has lost the key of their values, and gets it back.
func OpenSecrets(ctx context.Context, in *store.Store, logger *slog.Logger) (*SecretBucket, error) {
	s := &SecretBucket{store: in}
	key, err := sharedKey(ctx, in, secretsKey, logger)
	if err == nil {
		s.key = [32]byte(key)
		s.bucket, err = in.Bucket(ctx, store.BucketConfig{Name: secretsBucket, Keep: keepSecrets, MaxBytes: maxSecrets})
	}
	if err != nil {
		return nil, fmt.Errorf("client secrets: %w", err)
	}
	return s, nil
}

// SealKey implements httpapi.SecretBucket. The bucket never has the text of a secret: the caller computes it with this key.
func (s *SecretBucket) SealKey() [32]byte { return s.key }

// Get implements httpapi.SecretBucket.
func (s *SecretBucket) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	e, err := s.bucket.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	return e.Value, e.Revision, err
}

// Update implements httpapi.SecretBucket.
func (s *SecretBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (stored bool, err error) {
	_, err = s.bucket.Update(ctx, key, value, revision)
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// Delete implements httpapi.SecretBucket.
func (s *SecretBucket) Delete(ctx context.Context, key string) error {
	return s.bucket.Delete(ctx, key)
}

// Keys implements httpapi.SecretBucket.
func (s *SecretBucket) Keys(ctx context.Context) ([]string, error) { return s.bucket.Keys(ctx) }

// Now implements httpapi.SecretBucket.
func (s *SecretBucket) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }
