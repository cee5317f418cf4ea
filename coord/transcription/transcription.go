package transcription

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// State is one of Closed, Opening, Streaming, Finalizing, Unavailable.
//
//machine:field TurnOf Turn returns the turn of the stream x, or 0.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Closed: no stream.
	Closed struct{}
	// Opening: the machine has asked the back end for Turn's stream. The stream is not open yet.
	Opening struct{ Turn machine.Turn }
	// Streaming: the back end gets Turn's audio. EOU: the back end has reported the end
	// of the utterance, and no words came after it. EOU is a field of the state and
	// not a message, so it cannot be lost.
	Streaming struct {
		Turn machine.Turn
		EOU  bool
	}
	// Finalizing: Turn's audio has ended, and its final text is awaited. Whole: the text
	// comes from decoding the whole audio, and no longer from the live stream.
	Finalizing struct {
		Turn  machine.Turn
		Whole bool
	}
	// Unavailable: the back end has no live transcription. The machine stays in this state
	// for the whole session. A turn's audio is decoded when the turn is committed.
	Unavailable struct{}
)

// Event is one of Open, Ready, Refuse, EOU, Resumed, Finish, Decode, Done,
// Failed, Abandon, Shutdown.
//
//machine:field TurnIn Turn returns the turn that the event x names, or 0.
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Open: Turn began.
	Open struct{ Turn machine.Turn }
	// Ready: Turn's stream is open.
	Ready struct{ Turn machine.Turn }
	// Refuse: the back end has no live transcription. In answer to DecodeWhole: it
	// cannot decode the whole audio either.
	Refuse struct{ Turn machine.Turn }
	// EOU: the back end reports the end of Turn's utterance.
	EOU struct{ Turn machine.Turn }
	// Resumed: words came after the end of the utterance.
	Resumed struct{ Turn machine.Turn }
	// Finish: Turn was committed, so its audio has ended.
	Finish struct{ Turn machine.Turn }
	// Decode: Turn was committed without a stream; its whole audio is to be decoded.
	Decode struct{ Turn machine.Turn }
	// Done: Turn's final text has come. Empty: it has no words.
	Done struct {
		Turn  machine.Turn
		Empty bool
	}
	// Failed: Turn's stream, or the decoding of its whole audio, broke or took too long.
	Failed struct{ Turn machine.Turn }
	// Abandon: Turn's text is not wanted any more.
	Abandon struct{ Turn machine.Turn }
	// Shutdown: the session ends.
	Shutdown struct{}
)

// Effect is one of OpenStream, CloseInput, DecodeWhole, CloseStream, Degrade,
// DeliverText, DeliverFailure.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// OpenStream asks the back end for Turn's live stream.
	OpenStream struct{ Turn machine.Turn }
	// CloseInput tells the back end that the stream's audio has ended. The final text follows.
	CloseInput struct{ Turn machine.Turn }
	// DecodeWhole decodes Turn's audio in one piece.
	DecodeWhole struct{ Turn machine.Turn }
	// CloseStream ends the stream without waiting for its text.
	CloseStream struct{ Turn machine.Turn }
	// Degrade tells the driver, once a session, that there is no live transcription.
	Degrade struct{}
	// DeliverText gives Turn's text to the conversation.
	DeliverText struct {
		Turn  machine.Turn
		Empty bool
	}
	// DeliverFailure tells the conversation that Turn's text could not be recognised.
	DeliverFailure struct{ Turn machine.Turn }
)
