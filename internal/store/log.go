package store

// A log: named lists of entries to which writers append with compare and swap.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/antiphon-rt/antiphon/internal/steps"
)

// LogConfig describes a log.
type LogConfig struct {
	// Name has letters, digits, _ and -.
	Name string
	// Keep is how long an entry stays after it was written; 0 keeps it.
	Keep time.Duration
	// MaxBytes is the limit of all entries with what the store adds to each; 0 takes half of the store's limit.
	MaxBytes int64
	// Anew is called when the NATS server has lost the log with all its entries, and the log was made anew; nil for nobody. It does not block for long.
	Anew func()
}

// Log is an open log. It is safe for concurrent use.
type Log struct {
	*stream
	in     jetstream.Stream
	prefix string
	limit  int64
	room   room
	half   room
}

// Log opens a log and creates it if it is not there. If it is there with other limits, it gets those of cfg.
func (s *Store) Log(ctx context.Context, cfg LogConfig) (*Log, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = s.cfg.MaxBytes / 2
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	prefix := "LOG." + cfg.Name + "."
	l := &Log{prefix: prefix, limit: cfg.MaxBytes}
	var err error
	l.stream, err = s.newStream(ctx, "LOG_"+cfg.Name, cfg.Anew, func(ctx context.Context) error {
		in, err := s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: "LOG_" + cfg.Name, Subjects: []string{prefix + ">"}, MaxAge: cfg.Keep, MaxBytes: cfg.MaxBytes, MaxMsgSize: maxValue + 1024,
			Discard: jetstream.DiscardNew, Storage: s.storage(), Replicas: s.cfg.Replicas, AllowDirect: true,
		})
		if l.in == nil {
			l.in = in
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("log %s: %w", cfg.Name, s.notMade(cfg.MaxBytes, err))
	}
	return l, nil
}

// Incarnation returns a number of 24 bits that is another one after the log was made anew, because the NATS server has lost its data. The revisions of entries begin again then.
func (l *Log) Incarnation() uint64 { return l.incarnation() }

// Append adds an entry to a list if the newest entry of the list still has the revision last; 0 means that the list is empty. It returns the new
// revision, or ErrConflict. A name has one or more parts of letters, digits, _ and -, with dots between them.
func (l *Log) Append(ctx context.Context, name string, value []byte, last uint64) (revision uint64, err error) {
	err = l.write(ctx, func(ctx context.Context) error {
		ack, err := l.of.js.PublishMsg(ctx, &nats.Msg{Subject: l.prefix + name, Data: value}, jetstream.WithExpectLastSequencePerSubject(last))
		if err == nil {
			revision = ack.Sequence
		}
		return err
	})
	return revision, err
}

// Last returns the newest entry of a list, or ErrNotFound.
func (l *Log) Last(ctx context.Context, name string) (Entry, error) {
	return l.entry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.in.GetLastMsgForSubject(ctx, l.prefix+name)
	})
}

// Next returns the first entry of a list whose revision is above after, or ErrNotFound.
func (l *Log) Next(ctx context.Context, name string, after uint64) (Entry, error) {
	return l.entry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.in.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(l.prefix+name))
	})
}

func (l *Log) entry(ctx context.Context, get func(context.Context) (*jetstream.RawStreamMsg, error)) (found Entry, err error) {
	err = l.read(ctx, func(ctx context.Context) error {
		m, err := get(ctx)
		if err == nil {
			found = Entry{Value: m.Data, Revision: m.Sequence, Written: m.Time}
		}
		return err
	})
	return found, err
}

// Place returns the place of a list, for steps. Its newest version is the newest entry.
func (l *Log) Place(name string) steps.Place { return logPlace{l, name} }

type logPlace struct {
	*Log
	name string
}

func (p logPlace) Newest(ctx context.Context) (Entry, error) { return p.Last(ctx, p.name) }

func (p logPlace) After(ctx context.Context, revision uint64) (Entry, error) {
	return p.Next(ctx, p.name, revision)
}

func (p logPlace) Write(ctx context.Context, value []byte, revision uint64) (uint64, error) {
	return p.Append(ctx, p.name, value, revision)
}

// Names returns the lists that match a pattern, sorted. In the pattern, * stands for one part of a name, and > at its end for any number of parts.
func (l *Log) Names(ctx context.Context, pattern string) (names []string, err error) {
	err = l.read(ctx, func(ctx context.Context) error {
		info, err := l.in.Info(ctx, jetstream.WithSubjectFilter(l.prefix+pattern))
		if err != nil {
			return err
		}
		for subject := range info.State.Subjects {
			names = append(names, strings.TrimPrefix(subject, l.prefix))
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Remove removes a list with all its entries.
func (l *Log) Remove(ctx context.Context, name string) error {
	return l.write(ctx, func(ctx context.Context) error { return l.in.Purge(ctx, jetstream.WithPurgeSubject(l.prefix+name)) })
}

// Trim removes the entries of a list whose revision is below before.
func (l *Log) Trim(ctx context.Context, name string, before uint64) error {
	if before <= 1 {
		return nil // there is nothing below the first revision, and NATS servers take a purge up to revision 1 for one of everything
	}
	return l.write(ctx, func(ctx context.Context) error {
		return l.in.Purge(ctx, jetstream.WithPurgeSubject(l.prefix+name), jetstream.WithPurgeSequence(before))
	})
}

// Room is Bucket.Room for a log.
func (l *Log) Room(ctx context.Context) error {
	return l.room.get(func() error { return l.findRoom(ctx, 9) })
}

// HalfRoom returns ErrFull if more than half of the log is used: a list that takes much should take no more, so that the others have the rest.
func (l *Log) HalfRoom(ctx context.Context) error {
	return l.half.get(func() error { return l.findRoom(ctx, 5) })
}

func (l *Log) findRoom(ctx context.Context, tenths int64) error {
	return l.findRoomFor(ctx, tenths, l.limit, l.used)
}

func (l *Log) used(ctx context.Context) (used uint64, err error) {
	info, err := l.in.Info(ctx)
	if err == nil {
		used = info.State.Bytes
	}
	return used, err
}

// Left returns how many bytes are left until Room returns ErrFull.
func (l *Log) Left(ctx context.Context) (left int64, err error) {
	err = l.read(ctx, func(ctx context.Context) error {
		used, err := l.used(ctx)
		left = l.limit/10*9 - int64(used) //nolint:gosec // a number of bytes
		return err
	})
	return left, err
}

// Size returns how many bytes the entries of a list have.
func (l *Log) Size(ctx context.Context, name string) (size int64, err error) {
	for e := (Entry{}); ; size += int64(len(e.Value)) {
		if e, err = l.Next(ctx, name, e.Revision); errors.Is(err, ErrNotFound) {
			return size, nil
		} else if err != nil {
			return 0, err
		}
	}
}
