package logbook

// The events of the queue that belong to no room, in a logbook, and all events as sentences.

import (
	"fmt"
	"strings"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

type (
	// Message is a message of the client, or of a side-band controller.
	Message struct {
		From    int  // the number of the side-band controller; 0 for the client
		Rules   bool // it may change locked fields
		Text    []byte
		Refused *room.Failure
	}
	// Audio is audio of the client's track.
	Audio struct{ PCM []int16 }
	// Missing stands for samples of it that have not arrived.
	Missing struct{ Samples int }
	// Warm: the back ends are loaded, or Err says why not.
	Warm struct{ Err error }
	// FirstFrame: the first frame of the response on air has gone out.
	FirstFrame struct{}
	// Leaving: the client will reconnect over another connection.
	Leaving struct{}
	// Settled: the client of a session that goes on here is back.
	Settled struct{}
	// Handled: a transport waits until what it has posted is handled.
	Handled struct{}
	// Greeting has the agent speak first: Words, or what the model wants to say.
	Greeting struct{ Words string }
	// Digit is a key of a telephone.
	Digit struct {
		Key     string
		ToModel bool
	}
	// DigitsDue: the user has finished with the keys.
	DigitsDue struct{}
	// Progress says how far a call is that the server places.
	Progress struct {
		State  string
		Status int
	}
	// NotBooked is an event that has no place in a logbook.
	NotBooked struct{ Why string }
)

// samples returns how much audio an event has.
func samples(in any) int {
	switch in := in.(type) {
	case Audio:
		return len(in.PCM)
	case speaking.Audio:
		return len(in.PCM)
	}
	return 0
}

// Story says a moment in the words of docs/glossary.md. It is empty for a moment without anything to tell, such as audio that changes nothing.
func (m Moment) Story() string {
	var b strings.Builder
	came := came(m.In)
	if _, frame := m.In.(Audio); (frame || m.Number == 1) && len(m.Did) == 0 {
		return ""
	}
	fmt.Fprintf(&b, "%9.3f s  %s.\n", m.At.Seconds(), came)
	for _, did := range m.Did {
		if text, sends := strings.CutPrefix(did, "sends "); sends {
			said, _, _ := strings.Cut(strings.TrimPrefix(text, `{"type":"`), `"`)
			fmt.Fprintf(&b, "             The server sends %s.\n", said)
			continue
		}
		machine, rest, _ := strings.Cut(did, ": ")
		machine, from, _ := strings.Cut(machine, " ")
		event, rest, is := strings.Cut(rest, " > ")
		if !is {
			fmt.Fprintf(&b, "             The session %s.\n", did)
			continue
		}
		to, _, _ := strings.Cut(rest, "{")
		if event, _, _ = strings.Cut(event, "{"); from == to {
			fmt.Fprintf(&b, "             The machine %s takes %s and stays in %s.\n", machine, event, to)
		} else {
			fmt.Fprintf(&b, "             The machine %s takes %s and goes from %s to %s.\n", machine, event, from, to)
		}
	}
	return b.String()
}

// came says what came from outside.
func came(v any) string {
	switch v := v.(type) {
	case nil:
		return "The session begins"
	case Message:
		return saidBy(v)
	case Audio:
		return fmt.Sprintf("%d ms of the user's audio come", len(v.PCM)/24)
	case Missing:
		return fmt.Sprintf("%d ms of the user's audio have not come", v.Samples/24)
	case Warm:
		return "The back ends are loaded" + because(v.Err)
	case FirstFrame:
		return "The first frame of the response goes out"
	case Leaving:
		return "The client is about to reconnect over another connection"
	case Settled:
		return "The client of the call that goes on here is back"
	case Handled:
		return "A transport waits until its messages are handled"
	case Greeting:
		return "The agent is to speak first"
	case Digit:
		return "The user presses a key of the telephone"
	case Progress:
		return "The telephone call is: " + v.State
	case coord.OfConn:
		return "The connection has the event " + v.Event.Name()
	case listening.Report:
		return recognised(v.Of)
	case listening.SoundsFound:
		return "The sounds of a turn are known" + because(v.Err)
	case listening.VoiceKnown:
		return fmt.Sprintf("The voice of turn %d is known, authorised: %t%s", v.Turn, v.Verdict.Authorised, because(v.Err))
	case speaking.Event:
		return madeBy(v)
	case conversation.Written:
		return "A summary is written" + because(v.Err)
	case runs.Event:
		return fmt.Sprintf("News of a run come: %s", named(v))
	}
	return "The timer for " + named(v) + " is due"
}

// named returns the name of a value's type without its package.
func named(v any) string {
	name := fmt.Sprintf("%T", v)
	return name[strings.LastIndexByte(name, '.')+1:]
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

func saidBy(m Message) string {
	who := "The client"
	if m.From > 0 {
		who = fmt.Sprintf("Side-band controller %d", m.From)
	}
	e, err := wire.DecodeClient(m.Text)
	if m.Refused != nil || err != nil {
		return who + " sends a message that is refused"
	}
	return who + " sends " + e.Type()
}

func recognised(e listening.RecognitionEvent) string {
	switch e := e.(type) {
	case listening.Ready:
		return fmt.Sprintf("The recogniser is ready for turn %d", e.Turn)
	case listening.Refused:
		return fmt.Sprintf("The recogniser has no partial results for turn %d", e.Turn)
	case listening.Partial:
		return fmt.Sprintf("The recogniser has a partial result of turn %d: %q", e.Turn, e.Text)
	case listening.Ending:
		return fmt.Sprintf("The estimator says that turn %d is over with probability %.2f", e.Turn, e.Probability)
	case listening.Final:
		return fmt.Sprintf("The recogniser has the final result of turn %d: %q", e.Turn, e.Text)
	case listening.Failed:
		return fmt.Sprintf("The recognition of turn %d fails%s", e.Turn, because(e.Err))
	case listening.Recorded:
		return fmt.Sprintf("The transcript of a recording is there: %q%s", e.Transcript.Text, because(e.Err))
	case listening.Retranscribed:
		return fmt.Sprintf("The whole of turn %d is recognised again: %q%s", e.Turn, e.Text, because(e.Err))
	}
	return ""
}

func madeBy(e speaking.Event) string {
	switch e := e.(type) {
	case speaking.Delta:
		switch d := e.Event.(type) {
		case pipeline.TextDelta:
			return fmt.Sprintf("The model writes for response %d: %q", e.ID, d.Text)
		case pipeline.ToolCallDone:
			return fmt.Sprintf("The model of response %d calls the tool %s with %s", e.ID, d.Name, d.Arguments)
		case pipeline.Thinking, pipeline.ToolCallDelta:
		}
		return fmt.Sprintf("The model works on response %d", e.ID)
	case speaking.TextEnded:
		return fmt.Sprintf("The model of response %d has ended%s", e.ID, because(e.Err))
	case speaking.Audio:
		return fmt.Sprintf("The synthesizer has %d ms of audio of clause %d of response %d", len(e.PCM)/24, e.Clause, e.ID)
	case speaking.ClauseSaid:
		return fmt.Sprintf("All audio of clause %d of response %d is there", e.Clause, e.ID)
	case speaking.SynthesisEnded:
		return fmt.Sprintf("The synthesizer of response %d has ended%s", e.ID, because(e.Err))
	case speaking.DraftFailed:
		return "The model of a draft has failed"
	case speaking.BodyOver:
		return fmt.Sprintf("The generation of response %d is over", e.ID)
	case speaking.StepEnded:
		return fmt.Sprintf("The model of response %d waits for the tools of the server", e.ID)
	case speaking.ToolSlow:
		return fmt.Sprintf("Tool call %d takes long", e.Run)
	case speaking.ToolEnded:
		return fmt.Sprintf("Tool call %d has ended%s", e.Run, because(e.Err))
	}
	return ""
}
