package listening

// What the goroutines of recognitions report.

import (
	"errors"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// RecognitionEvent is a report of a recognition, for Handle: one of Ready, Refused, Partial, Ending, Final, Failed,
// Recorded, Retranscribed.
//
//sumtype:decl
type RecognitionEvent interface{ recognitionEvent() }

type (
	// Ready reports that the live recognition of a turn is open.
	Ready struct{ Turn turn.ID }
	// Refused reports that the recogniser has no live transcription.
	Refused struct{ Turn turn.ID }
	// Partial is the text of a turn so far. EOU reports the end of the utterance.
	Partial struct {
		Turn turn.ID
		Text string
		EOU  bool
	}
	// Ending is how probable it is that the user, who is silent, has finished a turn.
	Ending struct {
		Turn        turn.ID
		Probability float64
	}
	// Final is the text of a turn. Words may be nil. EOU reports that the text has the end of an utterance.
	Final struct {
		Turn  turn.ID
		Text  string
		Words []pipeline.Word
		EOU   bool
	}
	// Failed reports that the recognition of a turn has failed.
	Failed struct {
		Turn turn.ID
		Err  error
	}
	// Recorded is the transcript of a recording, or why there is none.
	Recorded struct {
		Item       machine.Item
		Transcript Transcript
		Err        error // the error of the recogniser; nil if Transcript has the whole result
		Late       bool  // it is a lateTurn
		Held       int64 // the memory that it has
	}
	// Retranscribed is the result of the gate's question Gen: the text of the turn so far, and how probable it is that its utterance has ended.
	Retranscribed struct {
		Turn        turn.ID
		Gen         uint32
		Text        string
		Words       []pipeline.Word
		Probability float64
		Err         error // the gate has failed, and the other fields are empty
	}
)

func (Ready) recognitionEvent()         {}
func (Refused) recognitionEvent()       {}
func (Partial) recognitionEvent()       {}
func (Ending) recognitionEvent()        {}
func (Final) recognitionEvent()         {}
func (Failed) recognitionEvent()        {}
func (Recorded) recognitionEvent()      {}
func (Retranscribed) recognitionEvent() {}

var (
	errLate    = errors.New("the recogniser did not answer in time")
	errOverrun = errors.New("the recogniser cannot keep up with the audio")
	errNoText  = errors.New("the recogniser ended without a result")
)
