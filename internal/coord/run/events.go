package run

// The events of the machine.

// Event is one of TurnStarted, TurnNeedsInput, TurnSucceeded, TurnFailed, Reply,
// Timeout, Cancel, Preserve, Reconcile, Resume. An event that may change the state
// has its time, At. The published message has the same time.
//
//machine:field at At returns the time of x, or 0 if it has none.
//machine:field resultOf Result returns the result that x brings, or 0.
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// TurnStarted: a worker has claimed the run as its next attempt.
	TurnStarted struct {
		Attempt Attempt
		At      Millis
	}
	// TurnNeedsInput: the turn of Attempt asks Interaction, which is fresh. Session
	// is a handle with which a worker can continue the turn. Policy is the run's policy.
	TurnNeedsInput struct {
		Attempt     Attempt
		Interaction Interaction
		Session     Session
		Policy      Policy
		At          Millis
	}
	// TurnSucceeded: the turn of Attempt has ended; Result is stored already.
	TurnSucceeded struct {
		Attempt Attempt
		Result  Result
		At      Millis
	}
	// TurnFailed: the turn of Attempt has failed; Result is its error.
	TurnFailed struct {
		Attempt Attempt
		Result  Result
		At      Millis
	}
	// Reply: the user has answered Interaction. It may come twice, or too late.
	Reply struct {
		Interaction Interaction
		At          Millis
	}
	// Timeout: nobody has answered Interaction in time.
	Timeout struct {
		Interaction Interaction
		At          Millis
	}
	// Cancel: the run is to end, because nobody needs it any more.
	Cancel struct {
		Result Result
		At     Millis
	}
	// Preserve: after a restart, Interaction and Session were found valid.
	Preserve struct {
		Interaction Interaction
		Session     Session
	}
	// Reconcile: after a restart, the run cannot be taken up again.
	Reconcile struct {
		Result Result
		At     Millis
	}
	// Resume: after a restart or the loss of its worker, another worker goes on with
	// the run's steps as its next attempt.
	Resume struct{ Attempt Attempt }
)

// Name is the event's name in the contract, where it is a trigger, in diagrams,
// logs and the spec.
func (TurnStarted) Name() string    { return "turn.started" }
func (TurnNeedsInput) Name() string { return "turn.needs_input" }
func (TurnSucceeded) Name() string  { return "turn.succeeded" }
func (TurnFailed) Name() string     { return "turn.failed" }
func (Reply) Name() string          { return "interaction.reply.accepted" }
func (Timeout) Name() string        { return "interaction.auto_decide.timeout" }
func (Cancel) Name() string         { return "run.canceled" }
func (Preserve) Name() string       { return "restart.preserve_waiting" }
func (Reconcile) Name() string      { return "restart.reconcile_failed" }
func (Resume) Name() string         { return "restart.resumed" }
