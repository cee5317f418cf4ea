package sdk

// Server events as the client reads them: docs/decisions/034-a-client-reads-events-by-member.md says why not as structs of wire.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
	"github.com/antiphon-rt/antiphon/sdk/internal/runs"
	"github.com/antiphon-rt/antiphon/wire"
)

// serverEvent has the members of a server event that a client uses. Members that the event does not have are zero.
type serverEvent struct {
	kind, id string

	itemID, responseID string
	previous           *string // nil: the item is the first one
	index              int     // the index of the content part
	endMS              int     // how much of the item was heard, in milliseconds
	part               string  // the type of the content part
	text               string  // text to add, or the whole text
	sound              []byte

	session  serverSession
	item     wire.Item
	response wire.Response
	problem  wire.Error
	times    *ServerTurnMetrics

	candidate, rtp int
	place          place
	acknowledgement
	run runs.Message
}

// place has the members of antiphon.response.piece and antiphon.response.playing.
type place struct {
	start, ms int // in the sound of the response
	piece     playback.Piece
	held      bool
}

// acknowledgement has the members of antiphon.ack.
type acknowledgement struct {
	acknowledges, resume string
	machines             wire.Raw
}

// readEvent reads an event as a whole or not at all. It ignores members that the client does not use. Errors: *wire.DecodeError.
func readEvent(data []byte) (*serverEvent, error) {
	m, err := wire.ReadServer(data)
	if err != nil {
		return nil, err
	}
	e := &serverEvent{
		kind: m.Type, id: m.ID,
		itemID: m.Text("item_id"), responseID: m.Text("response_id"), previous: textOrNil(m.Members, "previous_item_id"),
		index: m.Whole("content_index"), endMS: m.Whole("audio_end_ms"), part: readPart(m.Object("part")),
		candidate: m.Whole("candidate"), rtp: m.Whole("rtp_timestamp"),
		acknowledgement: acknowledgement{m.Text("acknowledges"), m.Text("resume"), m.Raw("machines")},
	}
	readItem(&e.item, m.Object("item"))
	readResponse(&e.response, m.Object("response"))
	readError(&e.problem, m.Object("error"))
	switch e.kind {
	case "session.created", "session.updated":
		e.session = readSession(m.Object("session"))
	case "antiphon.turn.metrics":
		e.times = readTimes(m.Members)
	case "antiphon.response.piece", "antiphon.response.playing":
		e.place = place{m.Whole("start_ms"), m.Whole("audio_ms"), playback.Piece{
			First: m.Whole("first_character"), Characters: m.Whole("characters"), From: m.Whole("audio_start_ms"), To: m.Whole("audio_end_ms"),
		}, m.True("held", false)}
	case "antiphon.run.message":
		e.run = runs.Read(m.Members)
	case "response.output_audio.delta":
		e.sound = m.Audio("delta")
	default:
		e.text = m.Text("delta") + m.Text("text") + m.Text("transcript") + m.Text("state") // an event has at most one of them
	}
	return e, m.Err()
}

func textOrNil(o wire.Members, name string) *string {
	if !o.Has(name) {
		return nil
	}
	text := o.Text(name)
	return &text
}

func readSession(o wire.Members) serverSession {
	input := o.Object("audio").Object("input")
	turns := input.Object("turn_detection")
	on := input.Has("turn_detection")
	return serverSession{
		id: o.Text("id"), model: o.Text("model"),
		answers:     on && turns.True("create_response", true),
		interrupts:  on && turns.True("interrupt_response", true),
		transcribes: input.Has("transcription"),
	}
}

func readItem(i *wire.Item, o wire.Members) {
	o.Need("type")
	*i = wire.Item{
		ID: o.Text("id"), Type: o.Text("type"), Status: o.Text("status"), Role: o.Text("role"),
		CallID: o.Text("call_id"), Name: o.Text("name"), Arguments: o.Text("arguments"), Output: o.Text("output"),
	}
	if o.Has("error") {
		i.Error = wire.Raw(o.Object("error").Text("message")) // the session shows the message alone
	}
	o.Each("content", func(o wire.Members) {
		o.Need("type")
		i.Content = append(i.Content, wire.Content{Type: o.Text("type"), Text: o.Text("text"), Transcript: textOrNil(o, "transcript")})
	})
}

func readPart(o wire.Members) string {
	o.Need("type")
	return o.Text("type")
}

func readResponse(r *wire.Response, o wire.Members) {
	*r = wire.Response{ID: o.Text("id"), Status: o.Text("status"), ConversationID: textOrNil(o, "conversation_id")}
	if o.Has("status_details") {
		details := o.Object("status_details")
		r.StatusDetails = &wire.StatusDetails{Reason: details.Text("reason")}
		if details.Has("error") {
			why := details.Object("error")
			r.StatusDetails.Error = &wire.StatusError{Type: why.Text("type"), Code: why.Text("code")}
		}
	}
	o.Each("output", func(o wire.Members) {
		r.Output = append(r.Output, wire.Item{})
		readItem(&r.Output[len(r.Output)-1], o)
	})
}

func readError(e *wire.Error, o wire.Members) {
	*e = wire.Error{
		Type: o.Text("type"), Code: o.Text("code"), Message: o.Text("message"),
		Param: textOrNil(o, "param"), EventID: textOrNil(o, "event_id"),
	}
}

func readTimes(o wire.Members) *ServerTurnMetrics {
	ms := func(name string) time.Duration {
		n := o.Whole(name)
		if n < 0 {
			return Never
		}
		return time.Duration(n) * time.Millisecond
	}
	return &ServerTurnMetrics{
		SpeechStopped: ms("speech_stopped_ms"), Commit: ms("commit_ms"), Transcript: ms("transcript_ms"),
		FirstToken: ms("first_token_ms"), FirstAudio: ms("first_audio_ms"), FirstPacket: ms("first_packet_ms"),
		PlaybackEnd: ms("playback_end_ms"),
	}
}
