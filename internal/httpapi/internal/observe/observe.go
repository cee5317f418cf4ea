// Package observe tells those who measure a server what happens in its calls.
package observe

import (
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/wire"
)

// Observers get what happens in the sessions. nil for none.
type Observers struct {
	// Record gets every event: the session's id, the direction ("client" or "server") and the JSON text. nil for none.
	Record func(session, dir string, text []byte)
	// Event gets every event that goes to a client, with the principal of the call, and Talked how much longer a principal's call is than when it was told before. nil
	// for none.
	Event  func(principal string, text []byte)
	Talked func(principal string, d time.Duration)
	// Begins gets each session with a call that has begun, and Ends the id of each session that is over. nil for none.
	Begins func(call, session, principal, transport string, since time.Time)
	Ends   func(session string)
	// Trace gets every transition of the state machines. nil for none.
	Trace func(session string, step coord.Step)
	// Took gets every event that the state machines take, and Performed every effect that was performed. nil for none.
	Took      func(session string, at playout.Position, e coord.Event, met coord.State)
	Performed func(session string, f coord.Effect)
	// Logbook returns where a session is recorded, so that it can be played again; nil for none.
	Logbook func() *logbook.Recording
	// Timed gets the times of each turn that was answered, and the end of the user's speech; Refused gets the code of each refused request. nil for none.
	Timed   func(session string, t *wire.AntiphonTurnMetrics, spoke time.Time)
	Refused func(code string)
}

// Begun tells Begins that a call has begun. The id of a call with a WebSocket for its audio begins with ws_.
func (o *Observers) Begun(call, session, principal string, webRTC bool, since time.Time) {
	if o.Begins == nil {
		return
	}
	transport := "telephone"
	switch {
	case webRTC:
		transport = "WebRTC"
	case strings.HasPrefix(call, "ws_"):
		transport = "WebSocket"
	}
	o.Begins(call, session, principal, transport, since)
}

// Over tells Ends that a session is over.
func (o *Observers) Over(session string) {
	if o.Ends != nil {
		o.Ends(session)
	}
}

// Recording returns where a session is recorded; nil for nowhere.
func (o *Observers) Recording() *logbook.Recording {
	if o.Logbook == nil {
		return nil
	}
	return o.Logbook()
}

// Recorder returns what gets the events of a principal's call.
func (o *Observers) Recorder(principal string) func(session, dir string, text []byte) {
	return func(session, dir string, text []byte) {
		if o.Event != nil && dir == "server" {
			o.Event(principal, text)
		}
		if o.Record != nil {
			o.Record(session, dir, text)
		}
	}
}

// Talk measures one call.
type Talk struct {
	tell      func(principal string, d time.Duration)
	principal string
	until     time.Time
}

// Talk returns a Talk of a principal's call that begins then.
func (o *Observers) Talk(principal string, begins time.Time) *Talk {
	return &Talk{o.Talked, principal, begins}
}

// Until tells Talked how much longer the call is now than it was before.
func (t *Talk) Until(now time.Time) {
	if t.tell != nil {
		t.tell(t.principal, now.Sub(t.until))
		t.until = now
	}
}
