// Package hangup ends a pion peer connection within a bound, whatever pion does. docs/dependencies.md describes the fault of pion that
// makes this necessary, and when the package can go.
package hangup

import (
	"errors"
	"fmt"
	"time"

	"github.com/pion/webrtc/v4"
)

// ErrStuck means that pion did not end a connection within the bound. Goroutines of pion are left behind.
var ErrStuck = errors.New("the WebRTC connection did not end")

const (
	// CutAfter is how long a connection may take to end before its sockets are closed under it.
	CutAfter = 2 * time.Second
	// GiveUpAfter is how long a connection may take to end in all.
	GiveUpAfter = 5 * time.Second
)

// Close ends pc and joins pion's goroutines. While pc ends, Close accepts and discards the streams of the client, for which pion would wait without end. After CutAfter it closes
// the sockets under the connection, and after GiveUpAfter it returns ErrStuck, wrapped. Other errors are pion's complaints about the end, and of use to a log only.
func Close(pc *webrtc.PeerConnection) error {
	done, ended := make(chan struct{}), make(chan error, 1)
	discard(pc.SCTP().Transport(), done)
	go func() {
		defer close(done)
		ended <- pc.GracefulClose()
	}()
	return await(ended, CutAfter, GiveUpAfter, func() {
		_ = pc.SCTP().Transport().ICETransport().Stop() // pion's own end reports its errors
	})
}

// await returns what ended brings. After cutAfter it runs cut on a goroutine of its own, and after giveUpAfter it returns ErrStuck.
func await(ended <-chan error, cutAfter, giveUpAfter time.Duration, cut func()) error {
	early, late := time.NewTimer(cutAfter), time.NewTimer(giveUpAfter)
	defer early.Stop()
	defer late.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-early.C:
			go cut()
		case <-late.C:
			return fmt.Errorf("%w within %v", ErrStuck, giveUpAfter)
		}
	}
}

// Within runs f on a goroutine of its own and reports whether f returns within d. Otherwise the goroutine is left behind.
func Within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}
