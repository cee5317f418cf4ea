package hangup

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/pion/srtp/v3"
	"github.com/pion/webrtc/v4"
)

// Discarding streams: accepts what a client sends to a connection that ends.

// poll is how often discard looks whether the connection has begun to receive.
const poll = 5 * time.Millisecond

// session is what discard uses of pion's SRTP and SRTCP sessions.
type session interface {
	// discardStream accepts a stream. The error says that the session has ended.
	discardStream() error
}

type rtpSession struct{ *srtp.SessionSRTP }

func (s rtpSession) discardStream() error {
	_, _, err := s.AcceptStream()
	return err
}

type rtcpSession struct{ *srtp.SessionSRTCP }

func (s rtcpSession) discardStream() error {
	_, _, err := s.AcceptStream()
	return err
}

// discard accepts and discards new streams until both sessions of the transport have ended, or until done is closed and no session has
// begun. A session that receives a stream waits until somebody accepts the stream, and pion's end waits for the session.
func discard(t *webrtc.DTLSTransport, done <-chan struct{}) {
	for _, load := range []func() session{
		func() session {
			if s, ok := field(t, "srtpSession").(*srtp.SessionSRTP); ok {
				return rtpSession{s}
			}
			return nil
		},
		func() session {
			if s, ok := field(t, "srtcpSession").(*srtp.SessionSRTCP); ok {
				return rtcpSession{s}
			}
			return nil
		},
	} {
		go func() {
			if s := begun(load, done); s != nil {
				for s.discardStream() == nil {
				}
			}
		}()
	}
}

// begun waits until load returns a session and returns that. It returns nil if done is closed first.
func begun(load func() session, done <-chan struct{}) session {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if s := load(); s != nil {
			return s
		}
		select {
		case <-tick.C:
		case <-done:
			return load()
		}
	}
}

// field returns the content of a private field of pion's transport, which is an atomic.Value; nil if pion has no such field any more. pion has no public way to these sessions.
func field(t *webrtc.DTLSTransport, name string) any {
	if !hasField(t, name) {
		return nil
	}
	f := reflect.ValueOf(t).Elem().FieldByName(name)
	return (*atomic.Value)(unsafe.Pointer(f.UnsafeAddr())).Load()
}

// hasField reports whether pion's transport has a private field with that name, which is an atomic.Value.
func hasField(t *webrtc.DTLSTransport, name string) bool {
	f := reflect.ValueOf(t).Elem().FieldByName(name)
	return f.IsValid() && f.Type() == reflect.TypeFor[atomic.Value]()
}
