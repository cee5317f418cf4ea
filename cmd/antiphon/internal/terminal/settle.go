package terminal

// This file reads lines, and waits until a conversation is quiet or has ended.

import (
	"bufio"
	"context"
	"io"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// quietTime is how long nobody must have spoken before a conversation counts as over. It is longer than the pause that ends a
// turn.
const quietTime = 2 * time.Second

// maxLine limits the length of a typed line, in bytes.
const maxLine = 1 << 20

// readLines returns a channel with the lines of r. The channel is closed at the end of r or when ctx is done. A read from r
// cannot be cancelled: if ctx is done while the goroutine reads, the goroutine stays until that read returns.
func readLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// watchEnd returns a channel that gets the session's error when the call fails.
func watchEnd(s *sdk.Session) (ended <-chan error, cancel func()) {
	end := make(chan error, 1)
	var once sync.Once
	return end, s.Subscribe(func(now sdk.Snapshot) {
		if now.State == sdk.Failed {
			once.Do(func() { end <- now.Err })
		}
	})
}

// settle waits until the session has been idle for the duration quiet. It returns an error when ctx is done or the call ends.
func settle(ctx context.Context, s *sdk.Session, quiet time.Duration, ended <-chan error) error {
	if err := s.Settle(ctx); err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	stop := s.Subscribe(func(sdk.Snapshot) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	wasIdle := false
	for {
		isIdle := idle(s.Snapshot())
		if isIdle && !wasIdle {
			timer.Reset(quiet)
		}
		wasIdle = isIdle
		var fire <-chan time.Time
		if isIdle {
			fire = timer.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-changed:
		case <-fire:
			return nil
		}
	}
}

// idle reports whether nobody speaks and no response or transcript is awaited.
func idle(s sdk.Snapshot) bool {
	if s.State != sdk.Listening || s.Confirmed != sdk.Listening {
		return false
	}
	for _, e := range s.Transcript {
		if e.Live {
			return false
		}
	}
	return true
}
