package secrets

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/steps"
)

// A bucket in the memory of one server: the secrets end with it.

type memory struct {
	key [32]byte

	mu     sync.Mutex
	values map[string]steps.Version
}

func newMemory() *memory {
	m := &memory{values: map[string]steps.Version{}}
	_, _ = rand.Read(m.key[:]) // never fails, see crypto/rand
	return m
}

// The methods of Bucket.
func (m *memory) SealKey() [32]byte                      { return m.key }
func (m *memory) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (m *memory) Get(_ context.Context, key string) (steps.Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, has := m.values[key]
	if !has {
		return v, steps.ErrNotFound
	}
	return v, nil
}

func (m *memory) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[key].Revision != revision {
		return 0, steps.ErrConflict
	}
	m.values[key] = steps.Version{Value: value, Revision: revision + 1}
	return revision + 1, nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return nil
}

// Keys implements Bucket. It forgets the secrets that have expired.
func (m *memory) Keys(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now().Unix()
	maps.DeleteFunc(m.values, func(key string, _ steps.Version) bool {
		_, expires, _ := readKey(key)
		return expires <= now
	})
	return slices.Collect(maps.Keys(m.values)), nil
}
