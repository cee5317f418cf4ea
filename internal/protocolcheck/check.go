// Package protocolcheck reads the events of a session in both directions, and reports where they break the rules that clients of
// the OpenAI Realtime protocol rely on. It has its own decoder and its own table of the protocol's fields (protocol.table),
// so that it does not share a mistake with the server's codec.
//
// # Use
//
// A record is what `antiphon serve --record FILE` writes: one JSON object a line, {"t","session","dir","event"}, of any number of
// sessions. [Record] checks a whole one; every session in it must have ended and every response must be over. Its
// result is a list of [Problem]s, each with the line, the session and the name of the rule. A [Coverage] adds up which events and
// fields several records contain.
//
//	report, err := check.Record(file)
//	for _, p := range report.Problems { fmt.Println(p) }
//
// # The rules
//
//   - SessionFirst: session.created is the server's first event, and there is one.
//   - EventIDs: every server event has a unique event_id; an error names an event that the client sent.
//   - RequiredFields: every event, and every object in it, has the fields of protocol.table.
//   - RealIDs: an id is not empty, and an id that the server gives has the prefix of its kind, such as "item_".
//   - OneDonePerResponse: every response.created gets exactly one response.done.
//   - EveryAddedIsDone: each item and part that was added to a response is done before response.done, parts before their item.
//   - NothingAfterDone: no response.* event of a response follows its response.done.
//   - OneLiveResponse: at most one response of the conversation is live; out-of-band responses write no items into the conversation.
//   - OneItemPerTurn: speech_started, speech_stopped, committed and the user's item carry one item id.
//   - OneTranscriptPerTurn: an item has at most one completed or failed transcription, and deltas only before it.
//   - KnownPreviousItem: every previous_item_id names the item directly before.
//   - DeltasAreTheText: the deltas of a part are its text, in every event that repeats it.
//   - StableIndexes: an item keeps its output_index and its content_index, and no two share one.
//   - MetadataComesBack: a response carries the metadata that its response.create gave.
//   - TruncateWithinSent: no item is truncated beyond the audio that was sent.
//   - PlaybackIsClosed: every output_audio_buffer.started gets one stopped or cleared; stopped comes after response.done. A
//     response is started once. The newest one may be started again after it was stopped, because its end may be played again: after
//     a rejected candidate over its last words, or after a cut of the network.
//   - InterruptionOrder: speech_started, output_audio_buffer.cleared, the done events of parts and items, response.done,
//     truncated. The last comes before the next response, unless the client predicts interruptions and reports first what was heard.
//   - OneTransport: output_audio_buffer.* comes over WebRTC only, response.output_audio.delta over a WebSocket only.
package protocolcheck

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// Problem is one broken rule.
type Problem struct {
	Line    int    // the number of the line in the record, from 1; the last line for an event that is missing at the end
	Session string // the session's id
	Rule    string // a name of the package comment
	What    string
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d, %s: %s: %s", p.Line, p.Session, p.Rule, p.What)
}

// Report is the result of checking a record.
type Report struct {
	Problems []Problem
	// Sessions and Responses are how many of them the record has, so that a check of an empty record is noticed.
	Sessions, Responses int

	events map[string]int // how often each event was seen, by key
	fields map[string]int // how often each field of the table was seen
}

// maxLine bounds one line of a record, in bytes.
const maxLine = 64 << 20

// line is one line of a record.
type line struct {
	T       time.Time
	Session string
	Dir     string
	Event   json.RawMessage
}

// Record checks a whole record: every session in it must have ended. The error is about reading, not about rules.
func Record(r io.Reader) (Report, error) {
	report := Report{events: map[string]int{}, fields: map[string]int{}}
	sessions := map[string]*session{}
	var order []*session
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return report, fmt.Errorf("line %d is not a line of a record: %w", n, err)
		}
		s := sessions[l.Session]
		if s == nil {
			s = newSession(l.Session, &report)
			sessions[l.Session] = s
			order = append(order, s)
		}
		s.line = n
		if err := s.take(l); err != nil {
			return report, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return report, fmt.Errorf("reading a record: %w", err)
	}
	report.Sessions = len(order)
	for _, s := range order {
		s.line = n
		s.end()
		report.Problems = append(report.Problems, s.problems...)
		report.Responses += len(s.responses)
	}
	return report, nil
}

// session is what was seen of one session.
type session struct {
	id       string
	report   *Report
	line     int
	problems []Problem

	seen     int             // server events
	eventIDs map[string]bool // the server's
	asked    map[string]bool // the client's
	wishes   map[string]bool // metadata that the client gave its responses, as compact JSON
	cuts     map[string]int  // where the client wants an item truncated, in ms
	clears   int             // how many output_audio_buffer.clear of the client have no answer yet
	clearing bool            // what comes next may be the answer to one

	responses map[string]*response
	live      string // the response that writes to the conversation

	turn         turn
	conversation []string        // item ids in their order
	items        map[string]bool // every item that there was; true when it is done
	runs         map[string]bool // items of tools of the server that went on after their response
	transcripts  map[string]bool // items whose transcription is over

	playback playback
}

func newSession(id string, report *Report) *session {
	return &session{
		id: id, report: report, eventIDs: map[string]bool{}, asked: map[string]bool{}, wishes: map[string]bool{},
		cuts:      map[string]int{},
		responses: map[string]*response{}, items: map[string]bool{}, runs: map[string]bool{}, transcripts: map[string]bool{},
		playback: playback{sent: map[string]time.Duration{}, ended: map[string]bool{}},
	}
}

// broken notes a problem at the present line.
func (s *session) broken(rule, format string, args ...any) {
	s.problems = append(s.problems, Problem{s.line, s.id, rule, fmt.Sprintf(format, args...)})
}

func (s *session) take(l line) error {
	var e event
	if l.Dir == "client" {
		s.client(l.Event)
		return nil
	}
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(l.Event, &e); errors.As(err, &other) {
		s.broken("RequiredFields", "%s of %s is a %s", other.Field, e.Type, other.Value)
	} else if err != nil {
		return fmt.Errorf("a server event: %w", err)
	}
	e.t = l.T
	s.seen++
	if first := e.Type == "session.created"; first != (s.seen == 1) {
		s.broken("SessionFirst", "%s is event number %d", e.Type, s.seen)
	}
	if e.EventID == "" || s.eventIDs[e.EventID] {
		s.broken("EventIDs", "the event_id %q of %s is not new", e.EventID, e.Type)
	}
	s.eventIDs[e.EventID] = true
	if e.Type == "error" && e.Error.EventID != nil && !s.asked[*e.Error.EventID] {
		s.broken("EventIDs", "an error names the event %q, which the client did not send", *e.Error.EventID)
	}
	s.complete(&e, l.Event)
	s.server(&e)
	return nil
}

// eventID finds the event_id in a text that is no JSON and was recorded as a string.
var eventID = regexp.MustCompile(`"event_id"\s*:\s*"([^"]*)"`)

// nameOf returns the event_id of a client's message, which may be any text.
func nameOf(text json.RawMessage) string {
	var e struct {
		EventID string `json:"event_id"`
	}
	var garbage string
	switch {
	case json.Unmarshal(text, &e) == nil:
		return e.EventID
	case json.Unmarshal(text, &garbage) == nil:
		if found := eventID.FindStringSubmatch(garbage); found != nil {
			return found[1]
		}
	}
	return ""
}

func (s *session) server(e *event) {
	s.clearing = s.clearing && (e.Type == "output_audio_buffer.cleared" || e.Type == "conversation.item.truncated")
	switch {
	case e.Type == "session.updated":
		s.turn.dropped = true
	case strings.HasPrefix(e.Type, "response."):
		s.ofResponse(e)
	case strings.HasPrefix(e.Type, "input_audio_buffer."):
		s.ofInput(e)
	case strings.HasPrefix(e.Type, "conversation.item."):
		s.ofItem(e)
	case strings.HasPrefix(e.Type, "output_audio_buffer."):
		s.ofPlayback(e)
	}
}

// end reports events that are missing at the end of the record.
func (s *session) end() {
	for _, r := range s.responses {
		if !r.done {
			s.broken("OneDonePerResponse", "response %s has no response.done", r.id)
		}
	}
	for id, done := range s.items {
		if !done && !s.runs[id] {
			s.broken("EveryAddedIsDone", "item %s has no conversation.item.done", id)
		}
	}
	if s.playback.playing != "" {
		s.broken("PlaybackIsClosed", "the playback of %s has neither stopped nor cleared", s.playback.playing)
	}
}
