package sdktest

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// Patience is how long Expect, Next and Await wait for what other goroutines do.
const Patience = 5 * time.Second

// Sent takes all events of the session's that nobody has expected yet.
func (s *Server) Sent() []wire.ClientEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sent
	s.sent = nil
	return all
}

// Next takes the session's next event and waits for it if need be.
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

// Expect takes the session's next event, which must be of this type, such as "response.create". What every call begins with
// (antiphon.hello and session.update) is passed over unless it is what is expected.
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

// Await waits until a snapshot of the session is as is says, and gives it.
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
