package scripted

import (
	"context"
	"time"
)

// pause waits for d, or for the end of the context.
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

// stall waits for the end of the context.
func stall(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
