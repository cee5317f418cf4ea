package store

// The version of the stored data: a newer one is refused, an older one is brought to this one step by step.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// schemaBucket has the version under schemaKey, as a number.
const (
	schemaBucket = "antiphon-schema"
	schemaKey    = "version"
)

// A migration brings the data to the next version. It may run again after it was interrupted.
type migration func(context.Context, *Store) error

// migrations has at i the step from version i+1 to version i+2. Data of this program has the version after the last one.
var migrations []migration

// migrate brings the data to the version of this program. Data that is not there yet has it from the beginning.
func (s *Store) migrate(ctx context.Context, steps []migration) error {
	b, err := s.Bucket(ctx, BucketConfig{Name: schemaBucket, MaxBytes: 1 << 20, MaxValue: 64})
	if err != nil {
		return err
	}
	own := len(steps) + 1
	for {
		e, err := b.Get(ctx, schemaKey)
		if errors.Is(err, ErrNotFound) {
			if _, err = b.Update(ctx, schemaKey, []byte(strconv.Itoa(own)), 0); errors.Is(err, ErrConflict) {
				continue // another process was first
			}
			return err
		}
		if err != nil {
			return err
		}
		version, err := strconv.Atoi(string(e.Value))
		switch {
		case err != nil || version < 1:
			return fmt.Errorf("the stored data has the version %q, which no version of this program writes", e.Value)
		case version > own:
			return fmt.Errorf("%w: it has version %d, and this program knows %d: run the newer program, or name an empty data folder",
				ErrNewer, version, own)
		case version == own:
			return nil
		}
		if err := steps[version-1](ctx, s); err != nil {
			return fmt.Errorf("the stored data of version %d could not be brought to version %d: %w", version, version+1, err)
		}
		if _, err := b.Update(ctx, schemaKey, []byte(strconv.Itoa(version+1)), e.Revision); err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
