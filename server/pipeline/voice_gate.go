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
	// FirstTurn: the gate checks turns until it has admitted one of the session, and then admits all later ones. Otherwise it checks each turn.
	FirstTurn bool
	// Deadline is how long the Verifier may take for a turn; 0 takes DefaultGateDeadline. The gate then refuses the turn.
	Deadline time.Duration
	// Enroller enrols people while the server runs; nil if nothing does. It may be the Verifier.
	Enroller Enroller
}

// Enroller enrols people, whom the voice gate then admits, and removes them. It is safe for concurrent use.
type Enroller interface {
	// Enrolled returns the names of the enrolled people, in alphabetical order. It does not block.
	Enrolled() []string
	// EnrolRecording enrols a person under a name, from now on and after a restart. pcm is the person's speech: mono at InputRate. It replaces an earlier
	// enrolment of this name. An error that wraps ErrEnrolment says what is wrong with the request.
	EnrolRecording(ctx context.Context, name string, pcm []float32) error
	// Remove removes a person. For a name that EnrolRecording has not enrolled it returns an error that wraps ErrEnrolment.
	Remove(name string) error
}

// ErrEnrolment is the error of an Enroller that does not take a request. The error that wraps it says what to do.
var ErrEnrolment = errors.New("nobody is enrolled or removed")

// DefaultGateDeadline is the Deadline of a VoiceGate that names none.
const DefaultGateDeadline = 5 * time.Second

// SpeakerVerifier recognises people by their voices. It is safe for concurrent use.
type SpeakerVerifier interface {
	// Verify says whether an authorised person speaks in pcm, the whole audio of a turn: mono at InputRate. After an error the gate refuses the turn. Verify
	// returns soon after ctx has ended.
	Verify(ctx context.Context, pcm []float32) (SpeakerVerdict, error)
}

// SpeakerVerdict is what a SpeakerVerifier says about a turn.
type SpeakerVerdict struct {
	// Authorised: an authorised person speaks. It is false for somebody else, and for too little speech.
	Authorised bool
	// Speaker is the name of that person; empty for nobody.
	Speaker string
}
