package store

// The room that is left in a bucket or in a log, and on the disk.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// roomFor is how long the answer of Room stays true. In this time a reserve of a tenth of a bucket and of 64 MiB of a disk is not used up.
const roomFor = 250 * time.Millisecond

// room keeps the answer of Room for roomFor. It is safe for concurrent use.
type room struct {
	mu      sync.Mutex
	checked time.Time
	answer  error
}

func (r *room) get(find func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.checked) >= roomFor {
		r.answer, r.checked = find(), time.Now()
	}
	return r.answer
}

// findRoom returns ErrFull if more than so many tenths of limit bytes are used, or if the disk has only its reserve left. use returns how many bytes are used, and by
// whom.
func (s *Store) findRoom(ctx context.Context, tenths, limit int64, use func(context.Context) (name string, used uint64, err error)) error {
	left, err := s.free()
	if err != nil {
		return err
	}
	if left <= 0 {
		return fmt.Errorf("%w: the disk of %s has less than its reserve of %d MB left: make room on it", ErrFull, s.cfg.Dir, s.cfg.Reserve>>20)
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.writable(ctx); err != nil {
		return err
	}
	name, used, err := use(ctx)
	if err != nil {
		return unavailable(err)
	}
	if int64(used) > limit/10*tenths { //nolint:gosec // a number of bytes
		return fmt.Errorf("%w: %s has %d of %d bytes: allow it more, or keep values for a shorter time", ErrFull, name, used, limit)
	}
	return nil
}

// storage returns where NATS keeps the values.
func (s *Store) storage() jetstream.StorageType {
	if s.own != nil && s.cfg.Dir == "" {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}
