package cluster

// Client secrets in the store. All servers on the store have them, and the same server after a restart, also without a cluster.

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// SecretBucket keeps the client secrets of servers that share a store. It is a httpapi.SecretBucket, and safe for concurrent use.
type SecretBucket struct {
	*store.Bucket
	in  *store.Store
	key [32]byte
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
	s := &SecretBucket{in: in}
	key, err := sharedKey(ctx, in, secretsKey, logger)
	if err == nil {
		s.key = [32]byte(key)
		s.Bucket, err = in.Bucket(ctx, store.BucketConfig{Name: secretsBucket, Keep: keepSecrets, MaxBytes: maxSecrets})
	}
	if err != nil {
		return nil, fmt.Errorf("client secrets: %w", err)
	}
	return s, nil
}

// SealKey implements httpapi.SecretBucket. The bucket never has the text of a secret: the caller computes it with this key.
func (s *SecretBucket) SealKey() [32]byte                          { return s.key }
func (s *SecretBucket) Now(ctx context.Context) (time.Time, error) { return s.in.Now(ctx) }
