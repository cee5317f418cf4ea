package pipeline

// This file has the interface of the voice gate, which is an optional part of a pipeline: only authorised people get answers.

import (
	"context"
	"errors"
	"time"
)

// VoiceGate lets only the speech of authorised people reach the model, in every session of the pipeline. A client cannot switch it off.
type VoiceGate struct {
	Verifier SpeakerVerifier
	// FirstTurn asks until one turn of a session is recognised, and then trusts all later turns of the session. Otherwise each turn is asked about.
	FirstTurn bool
	// Deadline is how long the Verifier may take for a turn; 0 takes DefaultGateDeadline. A turn without a verdict by then is refused.
	Deadline time.Duration
	// Enroller enrols people while the server runs; nil if nothing does. It may be the Verifier.
	Enroller Enroller
}

// Enroller lets people pass the voice gate, and takes that from them. It is safe for concurrent use.
type Enroller interface {
	// Enrolled returns the names of those who may pass, in alphabetic order. It does not block.
	Enrolled() []string
	// EnrolRecording lets the person with that name pass, from now on and after a new start. pcm is this person's speech: mono at InputRate. It replaces what was
	// enrolled under the name before. An error that wraps ErrEnrolment says what is wrong with the request.
	EnrolRecording(ctx context.Context, name string, pcm []float32) error
	// Remove takes the permission from that person. It returns an error that wraps ErrEnrolment for somebody whom EnrolRecording has not enrolled.
	Remove(name string) error
}

// ErrEnrolment is the error of an Enroller that does not take a request. The error that wraps it says what to do.
var ErrEnrolment = errors.New("nobody is enrolled or removed")

// DefaultGateDeadline is the Deadline of a VoiceGate that names none.
const DefaultGateDeadline = 5 * time.Second

// SpeakerVerifier recognises people by their voices. It is safe for concurrent use.
type SpeakerVerifier interface {
	// Verify says whether an authorised person speaks in pcm, the whole audio of a turn: mono at InputRate. An error refuses the turn. It returns
	// soon after ctx has ended.
	Verify(ctx context.Context, pcm []float32) (SpeakerVerdict, error)
}

// SpeakerVerdict is what a SpeakerVerifier says about a turn.
type SpeakerVerdict struct {
	// Authorised: an authorised person speaks. It is false for somebody else, and for too little speech.
	Authorised bool
	// Speaker is the name of that person; empty for nobody.
	Speaker string
}
