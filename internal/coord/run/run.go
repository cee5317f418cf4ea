package run

// The states of a run, and the identifiers in states, events and effects.

type (
	// Attempt is the number of a claim of the run by a worker. 0 is none.
	Attempt uint64
	// Interaction is the number of a question to the user. The numbers count up within a run. 0 is none.
	Interaction uint64
	// Session is a handle with which a worker can continue a turn that waits. 0 is none.
	Session uint64
	// Result is the number of a stored result: the run's output, its error, or why it was canceled.
	Result uint64
	// Seq is the number of a published message of the run, from 1 on.
	Seq uint64
	// Millis is a time in milliseconds since the Unix epoch.
	Millis uint64
)

// Policy says what happens when a turn needs the user's input.
type Policy uint8

// The policies. A run whose policy is not known is treated as RequireReply.
const (
	RequireReply Policy = iota + 1 // only the user's reply ends the wait
	AutoDecide                     // the run waits for a time, then goes on by itself
	Auto                           // the run never waits
)

// String is the policy's name in the contract, in logs and stories.
func (p Policy) String() string {
	switch p {
	case RequireReply:
		return "require_reply"
	case AutoDecide:
		return "auto_decide"
	case Auto:
		return "auto"
	}
	return "none"
}

// Mode says how an interaction was resolved. 0 means that it was not, or that the run no longer knows.
type Mode uint8

// The modes.
const (
	UserReply Mode = iota + 1
	AutoDecideTimeout
)

// String is the mode's name in the contract, in logs and stories.
func (m Mode) String() string {
	switch m {
	case UserReply:
		return "user_reply"
	case AutoDecideTimeout:
		return "auto_decide_timeout"
	}
	return "none"
}

// State is one of Queued, Running, WaitingUser, Succeeded, Failed, Canceled. The
// last three are terminal.
//
//machine:field attemptOf Attempt returns the newest attempt of x.
//machine:field seqOf Seq returns the number of the newest message of x.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Open has the fields of a run that neither waits nor has ended.
	Open struct {
		Attempt  Attempt     // the newest attempt
		Last     Interaction // the newest interaction
		Resolved Mode        // how Last was resolved
		Seq      Seq         // the number of the newest message
	}
	// Ended has the fields of a run that has ended. It never changes (OneTerminal).
	Ended struct {
		Attempt  Attempt
		Last     Interaction
		Resolved Mode
		Seq      Seq
		Result   Result
	}

	// Queued: the run waits for a worker to claim it.
	Queued Open
	// Running: the turn of Attempt runs.
	Running Open
	// WaitingUser: Pending waits for its answer.
	// Invariant: Pending != 0.
	WaitingUser struct {
		Attempt Attempt
		Pending Interaction
		Session Session
		Policy  Policy
		Seq     Seq
	}
	// Succeeded: Result is the run's output.
	Succeeded Ended
	// Failed: Result is the run's error.
	Failed Ended
	// Canceled: Result says by whom and why.
	Canceled Ended
)

// Name is the state's name in the contract, in diagrams, logs and the spec.
func (Queued) Name() string      { return "queued" }
func (Running) Name() string     { return "running" }
func (WaitingUser) Name() string { return "waiting_user" }
func (Succeeded) Name() string   { return "succeeded" }
func (Failed) Name() string      { return "failed" }
func (Canceled) Name() string    { return "canceled" }

// Terminal reports whether s has ended, and returns its result.
func Terminal(s State) (Ended, bool) {
	switch s := s.(type) {
	case Succeeded:
		return Ended(s), true
	case Failed:
		return Ended(s), true
	case Canceled:
		return Ended(s), true
	case Queued, Running, WaitingUser:
	}
	return Ended{}, false
}
