package view

// The states and events of the machine, and the inputs of the client.

import "github.com/antiphon-rt/antiphon/coord/machine"

// The identifiers of a turn and of a response that the client predicts, and that have no identifier yet. No server gives these numbers.
const (
	ForeseenTurn     = ^machine.Turn(0)
	ForeseenResponse = ^machine.Response(0)
)

// State is one of Closed, Open, Over.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Closed: no event of the session has come yet.
	Closed struct{}
	// Open: the session goes on.
	Open struct {
		// Speech is the turn whose speech was announced and has not stopped; 0 is none.
		Speech machine.Turn
		// Waiting is the committed turn that waits for its response; 0 is none.
		Waiting machine.Turn
		// Live is the response that was created and is not done; 0 is none.
		Live machine.Response
		// Sound is the response that plays, at any level; 0 is none.
		Sound machine.Response
		// Interrupting: the user may be interrupting. It is predicted only.
		Interrupting bool
		// Interrupts is interrupt_response, Answers is create_response.
		Interrupts, Answers bool
	}
	// Over: the session has ended.
	Over struct{}
)

// Guesses reports whether anything in s is only predicted.
func Guesses(s State) bool {
	o, open := s.(Open)
	return open && (o.Interrupting || o.Speech == ForeseenTurn || o.Waiting == ForeseenTurn ||
		o.Live == ForeseenResponse || o.Sound == ForeseenResponse)
}

// Event is a Told or an Input.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

// Told is what the server says: one of Opened, Configured, SpeechStarted, SpeechStopped, Committed, Transcribed, Created,
// Done, Started, Stopped, Cleared, Rejected, Refused, Ended. Each is one event of the protocol.
//
//sumtype:decl
type Told interface {
	Event
	told()
}

// Input is what the client has done: one of Candidate, Interrupt, Write, Commit, Ask, Cancel, Clear.
//
//sumtype:decl
type Input interface {
	Event
	input()
}

type (
	// Opened: session.created, with the two settings.
	Opened struct{ Interrupts, Answers bool }
	// Configured: session.updated, with the two settings.
	Configured struct{ Interrupts, Answers bool }
	// SpeechStarted: input_audio_buffer.speech_started.
	SpeechStarted struct{ Turn machine.Turn }
	// SpeechStopped: input_audio_buffer.speech_stopped.
	SpeechStopped struct{ Turn machine.Turn }
	// Committed: input_audio_buffer.committed. ByClient: the client's commit was the cause.
	Committed struct {
		Turn     machine.Turn
		ByClient bool
	}
	// Transcribed: conversation.item.input_audio_transcription.completed. Empty: it has no words, or failed.
	Transcribed struct {
		Turn  machine.Turn
		Empty bool
	}
	// Created: response.created, in the conversation.
	Created struct{ Resp machine.Response }
	// Done: response.done.
	Done struct{ Resp machine.Response }
	// Started: output_audio_buffer.started.
	Started struct{ Resp machine.Response }
	// Stopped: output_audio_buffer.stopped.
	Stopped struct{ Resp machine.Response }
	// Cleared: output_audio_buffer.cleared.
	Cleared struct{ Resp machine.Response }
	// Rejected: antiphon.barge_in.rejected.
	Rejected struct{}
	// Refused: an error that answers what the client asked for.
	Refused struct{}
	// Ended: the transport has ended, and no event follows.
	Ended struct{}

	// Candidate: the client's detector has found speech over the agent.
	Candidate struct{}
	// Interrupt: this speech goes on.
	Interrupt struct{}
	// Write: a message was sent and waits for its answer.
	Write struct{}
	// Commit: input_audio_buffer.commit was sent.
	Commit struct{}
	// Ask: response.create was sent.
	Ask struct{}
	// Cancel: response.cancel was sent.
	Cancel struct{}
	// Clear: output_audio_buffer.clear was sent.
	Clear struct{}
)

// Effect is what no step of this machine has: a view does nothing.
type Effect interface {
	Name() string
	effect()
}
