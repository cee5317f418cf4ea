package sdktest

// What a test expects of a session.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// Patience is how long Expect, Next and Await wait for other goroutines.
const Patience = 5 * time.Second

// Sent removes and returns all events of the session that no test has expected yet.
func (s *Server) Sent() []wire.ClientEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sent
	s.sent = nil
	return all
}

// Next removes and returns the next event of the session. It waits for one if there is none.
func (s *Server) Next() wire.ClientEvent {
	s.t.Helper()
	late := time.After(Patience)
	for {
		s.mu.Lock()
		if len(s.sent) > 0 {
			next := s.sent[0]
			s.sent = s.sent[1:]
			s.mu.Unlock()
			return next
		}
		s.mu.Unlock()
		select {
		case <-s.news:
		case <-late:
			s.t.Fatalf("the session sent nothing in %v", Patience)
			return nil
		}
	}
}

// Expect removes and returns the next event of the session, which must have this type, such as "response.create". It skips the
// events at the start of every call (antiphon.hello and session.update) unless one of them is expected.
func (s *Server) Expect(kind string) wire.ClientEvent {
	s.t.Helper()
	for {
		e := s.Next()
		switch {
		case e == nil || e.Type() == kind:
			return e
		case e.Type() == "antiphon.hello" || e.Type() == "session.update":
		default:
			s.t.Fatalf("the session sent %s instead of %s", e.Type(), kind)
			return nil
		}
	}
}

// Await waits until is returns true for a snapshot of the session, and returns that snapshot.
func Await(t TB, s *sdk.Session, is func(sdk.Snapshot) bool) sdk.Snapshot {
	t.Helper()
	found := make(chan sdk.Snapshot, 1)
	cancel := s.Subscribe(func(now sdk.Snapshot) {
		if is(now) {
			select {
			case found <- now:
			default:
			}
		}
	})
	defer cancel()
	select {
	case now := <-found:
		return now
	case <-time.After(Patience):
		now := s.Snapshot()
		t.Fatalf("the session is not as expected after %v: it is %s, its error is %v", Patience, now.State, now.Err)
		return now
	}
}

// AwaitState waits until the session is in this state.
func AwaitState(t TB, s *sdk.Session, want sdk.State) sdk.Snapshot {
	t.Helper()
	return Await(t, s, func(now sdk.Snapshot) bool { return now.State == want })
}
