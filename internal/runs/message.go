package runs

// The published messages of a run.

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// Protocol is the version of the messages.
const Protocol = "fcmp/1.0"

// Message is a published message of a run. Seq counts the messages of the run from 1, without a gap. contract.json has a schema for Data by Type.
type Message struct {
	ProtocolVersion string          `json:"protocol_version"`
	RunID           string          `json:"run_id"`
	Seq             uint64          `json:"seq"`
	TS              string          `json:"ts"` // RFC 3339, UTC
	Type            string          `json:"type"`
	Data            json.RawMessage `json:"data"`
	Meta            Meta            `json:"meta"`
}

// Meta says to which attempt of the run a Message belongs; 0 is before the first.
type Meta struct {
	Attempt uint64 `json:"attempt"`
}

// The data of the messages, by type.
type (
	stateChanged struct {
		From      string `json:"from"`
		To        string `json:"to"`
		Trigger   string `json:"trigger"`
		UpdatedAt string `json:"updated_at"`
	}
	replyAccepted struct {
		InteractionID  string `json:"interaction_id"`
		ResolutionMode string `json:"resolution_mode"`
		AcceptedAt     string `json:"accepted_at"`
	}
	autoDecided struct {
		InteractionID  string `json:"interaction_id"`
		ResolutionMode string `json:"resolution_mode"`
		Policy         string `json:"policy"`
	}
	// requested: the run asks the user.
	requested struct {
		InteractionID string `json:"interaction_id"`
		Kind          string `json:"kind" enum:"approval,question"`
		Prompt        string `json:"prompt"`
		// Choices are what the reply may be; without them it may be any value.
		Choices  []string `json:"choices,omitempty"`
		Deadline string   `json:"deadline,omitempty" format:"date-time"`
	}
	// repliedWith: what the user has replied to a question that is no approval. interaction.reply.accepted follows.
	repliedWith struct {
		InteractionID string          `json:"interaction_id"`
		Reply         json.RawMessage `json:"reply"`
	}
	// progressed: the worker says how far it is.
	progressed struct {
		Text string `json:"text"`
	}
	// stepDone: a step is done, and is not done again.
	stepDone struct {
		Step string `json:"step"`
	}
	// ended: the run has ended. The change of the state follows.
	ended struct {
		Status  string          `json:"status" enum:"succeeded,failed,canceled"`
		Output  json.RawMessage `json:"output,omitempty"`
		Code    string          `json:"code,omitempty"`
		Message string          `json:"message,omitempty"`
	}
)

// KindApproval is the kind of a question that the user answers with yes or no.
const KindApproval = "approval"

// The types of the messages that this package adds to those of the machine: TypeRequested is a question to the user, TypeResult the result of a run.
const (
	TypeRequested = "interaction.requested"
	typeReplied   = "interaction.replied"
	typeProgress  = "run.progress"
	typeStep      = "run.step.completed"
	TypeResult    = "run.result"
)

// published returns the data of the message that an effect publishes; nil for an effect that publishes none.
func published(f run.Effect) (data any) {
	switch f := f.(type) {
	case run.StateChanged:
		return stateChanged{f.From, f.To, f.Trigger, timeText(f.UpdatedAt)}
	case run.ReplyAccepted:
		return replyAccepted{interactionText(f.InteractionID), f.ResolutionMode.String(), timeText(f.AcceptedAt)}
	case run.AutoDecided:
		return autoDecided{interactionText(f.InteractionID), f.ResolutionMode.String(), f.Policy.String()}
	case run.Conclude, run.StopTurn, run.DecideAlone, run.ArmTimeout, run.AnswerReply:
	}
	return nil
}

// say adds a message to an entry. It returns an error if the data do not match their schema.
func (e *entry) say(id, kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := checkMessage(kind, text); err != nil {
		return fmt.Errorf("message %s of run %s: %w", kind, id, err)
	}
	e.Seq++
	e.Messages = append(e.Messages, Message{
		ProtocolVersion: Protocol, RunID: id, Seq: e.Seq, TS: timeText(e.At), Type: kind, Data: text, Meta: Meta{uint64(e.State.Attempt)},
	})
	return nil
}

// timeText returns a time as clients get it.
func timeText(at run.Millis) string {
	return at2time(at).Format("2006-01-02T15:04:05.000Z07:00")
}

func at2time(at run.Millis) time.Time { return time.UnixMilli(int64(at)).UTC() } //nolint:gosec // a time

func millis(t time.Time) run.Millis { return run.Millis(max(0, t.UnixMilli())) } //nolint:gosec // above 0

// interactionPrefix begins the name of an interaction, as clients get it.
const interactionPrefix = "ia_"

func interactionText(i run.Interaction) string { return fmt.Sprint(interactionPrefix, uint64(i)) }

// parseInteraction returns the number in the name of an interaction; 0 for a name that no interaction has.
func parseInteraction(text string) run.Interaction {
	digits, found := strings.CutPrefix(text, interactionPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !found || err != nil {
		return 0
	}
	return run.Interaction(n)
}
