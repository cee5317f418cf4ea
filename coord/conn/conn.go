package conn

// The states, events and effects of the machine, and the reasons why a connection ends.

// Reason says why a connection ends.
type Reason uint8

// The reasons.
const (
	ByClient    Reason = iota + 1 // the client hung up or closed
	GraceOver                     // the transport was lost and did not come back
	Failed                        // the transport failed for good
	TimeLimit                     // the session has reached its longest duration
	ServerStops                   // the server stops
	Overrun                       // the client does not read fast enough
	Moves                         // the call goes on in a fresh session, over another connection
)

// String is the reason's name in logs and stories.
func (r Reason) String() string {
	switch r {
	case ByClient:
		return "ByClient"
	case GraceOver:
		return "GraceOver"
	case Failed:
		return "Failed"
	case TimeLimit:
		return "TimeLimit"
	case ServerStops:
		return "ServerStops"
	case Overrun:
		return "Overrun"
	case Moves:
		return "Moves"
	}
	return "none"
}

// State is one of Connecting, Live, Interrupted, Closing, Closed.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Connecting: the session exists. Its transport or its back ends are not ready.
	Connecting struct{}
	// Live: the transport carries events. VAD: the server's turn detection is on. Gen is the generation number of the last grace timer.
	Live struct {
		VAD bool
		Gen uint32
	}
	// Interrupted: the transport carries nothing. It may come back until the grace timer Gen runs out.
	Interrupted struct {
		VAD bool
		Gen uint32
	}
	// Closing: the children were told to end, and have not all ended.
	Closing struct{ Reason Reason }
	// Closed absorbs everything.
	Closed struct{}
)

// Up reports whether the other machines of the session may work.
func Up(s State) bool {
	switch s.(type) {
	case Live, Interrupted:
		return true
	case Connecting, Closing, Closed:
	}
	return false
}

// Event is one of Opened, SetVAD, Lost, Restored, GraceExpired, Close, ChildrenDone.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Opened: transport and back ends are ready.
	Opened struct{ VAD bool }
	// SetVAD: the client turns the server's turn detection on or off.
	SetVAD struct{ On bool }
	// Lost: the transport carries nothing at the moment.
	Lost struct{}
	// Restored: the transport carries data again.
	Restored struct{}
	// GraceExpired: the grace timer of generation Gen ran out.
	GraceExpired struct{ Gen uint32 }
	// Close: the session is to end.
	Close struct{ Reason Reason }
	// ChildrenDone: every child has ended, and its goroutines have returned.
	ChildrenDone struct{}
)

// Effect is one of AnnounceSession, StartVAD, StopVAD, ArmGrace, StopChildren,
// ReleaseTransport, Forget.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// AnnounceSession sends session.created.
	AnnounceSession struct{}
	// StartVAD lets the detector decide turns.
	StartVAD struct{}
	// StopVAD stops this.
	StopVAD struct{}
	// ArmGrace starts the grace timer of generation Gen.
	ArmGrace struct{ Gen uint32 }
	// StopChildren tells every child to end.
	StopChildren struct{ Reason Reason }
	// ReleaseTransport closes the transport, once.
	ReleaseTransport struct{}
	// Forget removes the session from the server's list of sessions.
	Forget struct{}
)
