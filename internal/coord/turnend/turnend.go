package turnend

import "github.com/antiphon-rt/antiphon/coord/machine"

// The states, events and effects of the machine.

// State is one of Final, Tentative, Continued.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Final: no end is tentative.
	Final struct{}
	// Tentative: the end of Turn may be taken back, and the user is silent.
	Tentative struct{ Turn machine.Turn }
	// Continued: the user goes on after the end of Turn, with the turn or candidate Next. Ended: Next has ended, and its text is awaited.
	Continued struct {
		Turn, Next machine.Turn
		Ended      bool
	}
)

// Event is one of Ended, Opened, Dropped, Worded, Expired, Fixed.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Ended: the detector has found the end of Turn, and the server answers the turn.
	Ended struct{ Turn machine.Turn }
	// Opened: the user speaks: the turn or candidate Turn is open.
	Opened struct{ Turn machine.Turn }
	// Dropped: Turn was no speech of the user, or has no words.
	Dropped struct{ Turn machine.Turn }
	// Worded: the text of Turn is there. Joins: the conversation can join it with the turn before: nothing but an answer that
	// the user has hardly heard stands between them.
	Worded struct {
		Turn  machine.Turn
		Joins bool
	}
	// Expired: the user was silent for long enough after the end of Turn.
	Expired struct{ Turn machine.Turn }
	// Fixed: the client has ended a turn itself, has stopped an answer, has asked for one or has added an item. Or the settings no longer allow that an end
	// is taken back.
	Fixed struct{}
)

// Effect is one of Arm, Settle, Join.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Arm starts the timer after which the end of Turn is final.
	Arm struct{ Turn machine.Turn }
	// Settle: the end of Turn is final.
	Settle struct{ Turn machine.Turn }
	// Join makes one turn of Turn and Into.
	Join struct{ Turn, Into machine.Turn }
)
