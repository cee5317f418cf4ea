package run

// The effects of the machine.

// Effect is one of StateChanged, ReplyAccepted, AutoDecided, Conclude, StopTurn,
// DecideAlone, ArmTimeout, AnswerReply. The first three are published and numbered
// by Seq. The driver performs the others.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// StateChanged is published as conversation.state.changed: From and To are names
	// of states, Trigger is the name of the event.
	StateChanged struct {
		Seq       Seq
		From      string
		To        string
		Trigger   string
		UpdatedAt Millis
	}
	// ReplyAccepted is published as interaction.reply.accepted.
	ReplyAccepted struct {
		Seq            Seq
		InteractionID  Interaction
		ResolutionMode Mode
		AcceptedAt     Millis
	}
	// AutoDecided is published as interaction.auto_decide.timeout.
	AutoDecided struct {
		Seq            Seq
		InteractionID  Interaction
		ResolutionMode Mode
		Policy         Policy
	}

	// Conclude stores the run's terminal status together with its result, in one write.
	Conclude struct {
		Status string
		Result Result
	}
	// StopTurn tells the worker of Attempt to stop. The machine ignores its later reports.
	StopTurn struct{ Attempt Attempt }
	// DecideAlone tells a turn that needs input to decide by itself and to go on.
	DecideAlone struct{ Attempt Attempt }
	// ArmTimeout starts a timer for Interaction. Timeout comes after the time that the run's policy gives, counted from the question.
	ArmTimeout struct{ Interaction Interaction }
	// AnswerReply answers a reply that is not applied. Resolved says how the interaction was resolved, if the run still knows.
	AnswerReply struct {
		Interaction Interaction
		Resolved    Mode
	}
)

// Name is the effect's name in the contract, where it is published, in logs and the spec.
func (StateChanged) Name() string  { return "conversation.state.changed" }
func (ReplyAccepted) Name() string { return "interaction.reply.accepted" }
func (AutoDecided) Name() string   { return "interaction.auto_decide.timeout" }
