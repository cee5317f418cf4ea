package scripted

// This file has the waits of the scripted stages.

import (
	"context"
	"time"
)

// pause waits for the duration d or until the context is done.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func stall(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
