package main

import (
	"bufio"
	"context"
	"io"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// quietTime is how long nobody has had the floor when a conversation counts as over: longer than the pause that ends a turn.
const quietTime = 2 * time.Second

// maxLine bounds a line that is typed, in bytes.
const maxLine = 1 << 20

// readLines gives the lines of r and closes at its end. The reader is left behind when ctx ends in the middle of a line: nothing can
// wake it.
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

// watch gives the error that the call ends with, when it ends by itself.
func watch(s *sdk.Session) (ended <-chan error, cancel func()) {
	end := make(chan error, 1)
	var once sync.Once
	return end, s.Subscribe(func(now sdk.Snapshot) {
		if now.State == sdk.Failed {
			once.Do(func() { end <- now.Err })
		}
	})
}

// settle waits until nobody has had the floor for a while.
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
	over := false
	for {
		if !over && idle(s.Snapshot()) {
			over = true
			timer.Reset(quiet)
		} else if over && !idle(s.Snapshot()) {
			over = false
		}
		var fire <-chan time.Time
		if over {
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

// idle: nobody has the floor, and nothing is on its way.
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
