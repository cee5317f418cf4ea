package store

// Streams of a NATS server elsewhere that has lost its data: the store notices it, makes them anew, and says so.

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// stream is the stream of NATS below a bucket or a log.
type stream struct {
	of   *Store
	name string
	make func(ctx context.Context) error // makes it if it is not there
	anew func()                          // is called when it was made anew; nil for nobody

	seen    atomic.Uint64 // Store.doubts when it was there
	one     chan struct{} // has room for the one that looks for it
	mu      sync.Mutex
	created time.Time // by the NATS server
}

// lookAgain is how long the store waits until it looks again for streams that it could not find or make.
const lookAgain = time.Second

// newStream makes a stream if it is not there. If anew is not nil, the store looks after it. Without it, operations find out by themselves that the stream is lost.
func (s *Store) newStream(ctx context.Context, name string, anew func(), create func(ctx context.Context) error) (*stream, error) {
	st := &stream{of: s, name: name, make: create, anew: anew, one: make(chan struct{}, 1)}
	doubts := s.doubts.Load()
	if err := create(ctx); err != nil {
		return nil, err
	}
	in, err := s.js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	st.created = in.CachedInfo().Created
	s.warnOfLost(ctx, name, in)
	st.seen.Store(doubts)
	if anew != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams = append(s.streams, st)
	}
	return st, nil
}

// warnOfLost logs what the server inside this process could not read of a stream's files.
func (s *Store) warnOfLost(ctx context.Context, name string, in jetstream.Stream) {
	if s.own == nil || s.cfg.Dir == "" {
		return
	}
	all, err := in.Info(ctx, jetstream.WithDeletedDetails(true)) // without the details it does not say what is lost
	if err == nil && all.State.Lost != nil {
		s.cfg.Logger.Error("the store has lost entries, because its files are damaged: look for a fault of the disk", "stream", name, "bytes", all.State.Lost.Bytes)
	}
}

// ready makes the stream anew if the NATS server has lost it since it was last seen.
func (st *stream) ready(ctx context.Context) error {
	doubts := st.of.doubts.Load()
	if st.seen.Load() == doubts || st.of.cfg.Dir != "" { // the files in a folder are there, or the server inside this process says why not
		return nil
	}
	select {
	case st.one <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: it is looked for: %w", ErrUnavailable, ctx.Err())
	}
	anew, err := st.find(ctx)
	<-st.one
	if err != nil {
		return unavailable(err)
	}
	st.seen.Store(doubts)
	if anew {
		st.of.cfg.Logger.Warn("the store has lost its data, and begins anew", "stream", st.name)
		if st.anew != nil {
			st.anew()
		}
	}
	return nil
}

// read calls f within the time for a call, if the stream is there. It returns an error of f as one of this package.
func (st *stream) read(ctx context.Context, f func(context.Context) error) error {
	return st.call(ctx, func(context.Context) error { return nil }, f)
}

// write is read for what changes the stream.
func (st *stream) write(ctx context.Context, f func(context.Context) error) error {
	return st.call(ctx, st.of.writable, f)
}

func (st *stream) call(ctx context.Context, may, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, st.of.cfg.Timeout)
	defer cancel()
	if err := st.ready(ctx); err != nil {
		return err
	}
	if err := may(ctx); err != nil {
		return err
	}
	return st.failed(f(ctx))
}

// find finds the stream, or makes it. It reports whether this is another one than before.
func (st *stream) find(ctx context.Context) (anew bool, err error) {
	in, err := st.of.js.Stream(ctx, st.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if err = st.make(ctx); err == nil {
			in, err = st.of.js.Stream(ctx, st.name)
		}
	}
	if err != nil {
		return false, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	anew = !in.CachedInfo().Created.Equal(st.created)
	st.created = in.CachedInfo().Created
	return anew, nil
}

// incarnation returns a number of 24 bits that is another one after the stream was made anew.
func (st *stream) incarnation() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(nil, st.created.UnixNano(), 10)) // a hash does not fail
	return h.Sum64() >> 40
}

// failed returns unavailable(err). If the error may mean that the stream is not there, the store looks for all its streams.
func (st *stream) failed(err error) error {
	for _, missing := range []error{jetstream.ErrStreamNotFound, nats.ErrStreamNotFound, jetstream.ErrBucketNotFound, jetstream.ErrNoStreamResponse, nats.ErrNoResponders, jetstream.ErrJetStreamNotEnabled} {
		if errors.Is(err, missing) {
			st.of.doubt()
			break
		}
	}
	return unavailable(err)
}

// doubt has the store look for its streams.
func (s *Store) doubt() {
	s.doubts.Add(1)
	select {
	case s.doubted <- struct{}{}:
	default: // it is about to
	}
}

// look looks for the streams when there is doubt, until the store is closed. Operations look for their own stream, too.
func (s *Store) look() {
	defer close(s.looked)
	for {
		select {
		case <-s.closing:
			return
		case <-s.doubted:
		}
		for !s.found() {
			again := time.NewTimer(lookAgain)
			select {
			case <-again.C:
			case <-s.closing:
				again.Stop()
				return
			}
		}
	}
}

// found reports whether all streams are there.
func (s *Store) found() bool {
	s.mu.Lock()
	all := s.streams
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	for _, st := range all {
		if err := st.ready(ctx); err != nil {
			s.cfg.Logger.Debug("the store looks for a stream", "stream", st.name, "err", err)
			return false
		}
	}
	return true
}
