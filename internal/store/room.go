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

// findRoomFor returns ErrFull if more than so many tenths of limit bytes of the stream are used, or if the disk has only its reserve left. use returns how many bytes are used.
func (st *stream) findRoomFor(ctx context.Context, tenths, limit int64, use func(context.Context) (used uint64, err error)) error {
	cfg := st.of.cfg
	left, err := st.of.free()
	if err != nil {
		return err
	}
	if left <= 0 {
		return fmt.Errorf("%w: the disk of %s has less than its reserve of %d MB left: make room on it", ErrFull, cfg.Dir, cfg.Reserve>>20)
	}
	used := uint64(0)
	err = st.write(ctx, func(ctx context.Context) error {
		used, err = use(ctx)
		return err
	})
	if err == nil && int64(used) > limit/10*tenths { //nolint:gosec // a number of bytes
		err = fmt.Errorf("%w: %s has %d of %d bytes: allow it more, or keep values for a shorter time", ErrFull, st.name, used, limit)
	}
	return err
}

// storage returns where NATS keeps the values.
func (s *Store) storage() jetstream.StorageType {
	if s.own != nil && s.cfg.Dir == "" {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}
