package trace

// Compares a recording with its trace: what the client can know must equal what the server's machines say.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/internal/projection"
)

// View compares what a client can know with the state of the server. record is what `antiphon serve --record` wrote of the
// sessions of the trace. It applies the server's events to package view. The result must equal the projection of the machines'
// states: whenever all events of a step have been sent, and at the end. Identifiers differ on both sides; each one of the client
// must match exactly one of the server.
//
// The states are those of the trace. The turn that waits is not in the trace; it is derived from the effects, as session.See does.
// The settings come from the record. Two things are not compared, because the server does not send them: which response plays if
// the client plays the audio itself (WebSocket), and which turn waits in a session without transcripts.
func (c *Checker) View(name string, trace, record io.Reader) error {
	machines, err := readAll(name, trace, func(text []byte) (moment, error) {
		l, err := readLine(text)
		return moment{at: l.T, session: l.Session, step: &l}, err
	})
	if err != nil {
		return err
	}
	events, err := readAll(name+"'s record", record, func(text []byte) (moment, error) {
		var r recordLine
		err := json.Unmarshal(text, &r)
		return moment{at: r.T, session: r.Session, event: &r}, err
	})
	if err != nil {
		return err
	}
	all := append(machines, events...)
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) }) // a step is traced before it is performed
	sessions := map[string]*ends{}
	for _, m := range all {
		if m.step != nil && m.step.Machine == "" {
			continue // an event or an effect: the steps have all that a view asks
		}
		if outOfBand(m.session) {
			continue // it is not in the view
		}
		e := sessions[m.session]
		if e == nil {
			e = newEnds(events, m.session)
			sessions[m.session] = e
		}
		if what := e.take(m); what != "" {
			return &Refused{m.name, m.line, "session " + m.session + ": " + what}
		}
	}
	for id, e := range sessions {
		if what := e.compare(); what != "" {
			return &Refused{name, len(machines), "session " + id + ", in the end: " + what}
		}
		c.figures.Views += e.compared
	}
	return nil
}

// moment is one line of the trace or of the record.
type moment struct {
	at      time.Time
	session string
	step    *line       // of the trace
	event   *recordLine // of the record
	name    string
	line    int
}

// recordLine is one recorded event of the protocol, with the fields that are needed here.
type recordLine struct {
	T       time.Time       `json:"t"`
	Session string          `json:"session"`
	Dir     string          `json:"dir"`
	Event   json.RawMessage `json:"event"`
}

func readAll(name string, r io.Reader, parse func([]byte) (moment, error)) ([]moment, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	var out []moment
	for n := 1; lines.Scan(); n++ {
		m, err := parse(lines.Bytes())
		if err != nil {
			return nil, &Refused{name, n, err.Error()}
		}
		m.name, m.line = name, n
		out = append(out, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return out, nil
}

// longestEvent is the largest length of a line of a record in bytes. An event may carry audio.
const longestEvent = 64 << 20

// ends has both ends of one session: the client's view and the server's machines.
type ends struct {
	server coord.State
	seen   coord.Seen
	told   bool // something was said since the last step
	// announced: session.created was sent.
	announced bool
	client    *listener

	turns, replies same
	compared       int
}

func newEnds(events []moment, id string) *ends {
	e := &ends{server: coord.New(coord.Config{}), client: newListener(), turns: same{}, replies: same{}}
	for _, m := range events {
		e.client.media = e.client.media || m.session == id && strings.Contains(string(m.event.Event), `"type":"output_audio_buffer.st`)
	}
	return e
}

func (e *ends) take(m moment) string {
	if m.event != nil {
		e.told = e.told || m.event.Dir == "server"
		return e.client.hear(m.event)
	}
	if m.step.Machine == "synthesis" { // the driver tells it of a response's end while it performs that
		return e.step(*m.step)
	}
	if e.told || begins[m.step.Event.Name] {
		if what := e.compare(); what != "" {
			return "before this step: " + what
		}
	}
	e.told = false
	what := e.step(*m.step)
	if m.step.Event.Name == (transcription.Done{}).Name() {
		e.client.refused()
	}
	return what
}

// begins has the events that only come from outside. When a machine takes one, all events of the step before have been sent.
var begins = byName(
	turn.Onset{}, turn.ClientCandidate{}, turn.Sustained{}, turn.Misfire{}, turn.Silence{}, turn.EndOfUtterance{}, turn.VoiceResumed{},
	turn.FallbackExpired{}, turn.Commit{}, turn.IdleTimeout{}, response.Create{}, response.Cancel{}, response.BodyEnded{},
	playout.Drained{}, playout.Ready{}, playout.Heard{},
	transcription.Ready{}, transcription.Refuse{}, transcription.EOU{}, transcription.Done{}, transcription.Failed{}, conn.Opened{}, conn.Close{},
)

func byName(events ...machine.Named) map[string]bool {
	out := map[string]bool{}
	for _, e := range events {
		out[e.Name()] = true
	}
	return out
}

// step stores the new state of a machine.
func (e *ends) step(l line) string {
	name, _, _ := strings.Cut(l.Machine, ".")
	k, known := kinds[name]
	if !known {
		return "there is no machine " + l.Machine
	}
	st, err := l.step(k, given(name, l.Action))
	if err != nil {
		return err.Error()
	}
	switch to := st.to.(type) {
	case conn.State:
		e.server.Conn = to
	case turn.State:
		e.server.Turn = to
	case response.State:
		e.server.Response = to
	case playout.State:
		e.server.Playout = to
	}
	e.announced = e.announced || slices.Contains(st.effects, machine.Named(conn.AnnounceSession{}))
	from := coord.State{Config: e.client.settings}
	e.seen = coord.See(e.seen, coord.Edge{From: from, To: e.server, Effects: st.effects})
	return ""
}

// compare returns how the client's view differs from the server's state, or "".
func (e *ends) compare() string {
	if _, closed := e.server.Conn.(conn.Closed); closed { // the transport was released in that step, after what it said
		e.client.state = view.Next(e.client.state, view.Ended{})
	}
	s := e.server
	s.Config, s.Waiting = e.client.settings, e.seen.Due
	v := e.client.state
	if o, open := v.(view.Open); open {
		of, _ := projection.ClientView(s).(view.Open)
		o.Speech, o.Waiting = rename(e.turns, o.Speech, of.Speech), rename(e.turns, o.Waiting, of.Waiting)
		o.Live, o.Sound = rename(e.replies, o.Live, of.Live), rename(e.replies, o.Sound, of.Sound)
		if !e.client.media {
			o.Sound = of.Sound
		}
		if !e.client.transcribes {
			o.Waiting = of.Waiting
		}
		v = o
	}
	e.compared++
	if e.announced && v == view.State(view.Closed{}) {
		return "ConfirmedIsProjection does not hold: the record has no session.created of it"
	}
	if !projection.Agrees(v, s) {
		return fmt.Sprintf("ConfirmedIsProjection does not hold: its client has %+v, the server %+v", v, projection.ClientView(s))
	}
	return ""
}

// same maps the client's identifiers to the server's, both as uint64.
type same map[uint64]uint64

// rename returns the server's identifier for the client's. If neither has occurred before, they match from now on.
func rename[ID ~uint64](known same, client, of ID) ID {
	if client == 0 || of == 0 {
		return client
	}
	if is, met := known[uint64(client)]; met {
		return ID(is)
	}
	for _, other := range known {
		if other == uint64(of) {
			return ^ID(0) // it is another one's
		}
	}
	known[uint64(client)] = uint64(of)
	return of
}
