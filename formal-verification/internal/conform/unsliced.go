package conform

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The exploration of the whole composition. Each specification of a session is a slice: it leaves out some of the queue of
// responses, the client's reports, the settings, the words of turns and the connection. Here all of them meet, without a
// specification beside them: what must hold are the invariants of package session.

// notOwed is what the newest response is for in canonical form, where nothing is owed or something else is.
var notOwed = machine.Request{Client: 4}

// situation is a session with what its monitor has seen, both in canonical form.
type situation struct {
	s session.State
	g session.Seen
}

// inForm returns the situation with the smallest identifiers that keep their order.
func (x situation) inForm() situation { return ranked(x.renamed) }

func (x situation) renamed(reply func(machine.Response) machine.Response, of func(machine.Turn) machine.Turn) situation {
	g := x.g
	g.Live, g.Newest, g.Body, g.Given, g.Heard = reply(g.Live), reply(g.Newest), reply(g.Body), reply(g.Given), reply(g.Heard)
	g.Ended, g.Due, g.Loose = of(g.Ended), of(g.Due), of(g.Loose)
	// The state keeps one request for all that it may owe an answer to: what the monitor has seen of it is renamed alike.
	switch g.For {
	case machine.Request{}:
	case x.s.Owed:
		g.For = theOwed
	default:
		g.For = notOwed
	}
	return situation{renamed(x.s, reply, of), g}
}

// Unsliced explores the composition breadth first.
type Unsliced struct {
	// Settings are those that the session begins with, the first, and changes between.
	Settings []session.Config
	// Limit is the most states that are met; 0 is none.
	Limit int
	// Next is the composition: session.Next, or a spoilt one in a test.
	Next func(session.State, playout.Position, session.Event) (session.State, []session.Effect, []session.Step)
}

// UnslicedSettings are those of make verify-long: a client that reports, whose speech may interrupt the agent or may not.
func UnslicedSettings() []session.Config {
	return []session.Config{
		{Interrupt: true, CreateResponse: true, Reports: true},
		{Interrupt: false, CreateResponse: true, Reports: true},
	}
}

// Explored is how much an exploration met. Whole: all there is.
type Explored struct {
	States, Edges int
	Whole         bool
}

// arrived is how a state was first reached: by which of the events that may come in which state.
type arrived struct {
	from int32
	by   uint8
}

// print names a situation in 16 bytes, so that a visited one need not be kept. Two of many millions have the same name with a
// chance below one in a billion billions.
type print [2]uint64

var printSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func printOf(x situation) print {
	return print{maphash.Comparable(printSeeds[0], x), maphash.Comparable(printSeeds[1], x)}
}

// Explore meets states until there are no more, or Limit. An invariant that does not hold, and an event that no table has a row
// for, is an error with the shortest story that leads there.
func (u Unsliced) Explore() (Explored, error) {
	first := situation{s: session.New(u.Settings[0])}.inForm()
	queue, came := []situation{first}, []arrived{{}}
	known := map[print]struct{}{printOf(first): {}}
	found := Explored{Whole: true}
	for i := int32(0); len(queue) > 0; i++ {
		x := queue[0]
		queue[0] = situation{} // its states are not needed any more
		queue = queue[1:]
		for k, e := range u.events(x) {
			next, what := u.take(x, e)
			found.Edges++
			if what != "" {
				found.States = len(came)
				return found, fmt.Errorf("%s, after %s", what, u.story(came, i, eventName(e)))
			}
			name := printOf(next)
			if _, is := known[name]; is {
				continue
			}
			if len(came) == u.Limit {
				found.Whole = false
				continue
			}
			known[name] = struct{}{}
			queue, came = append(queue, next), append(came, arrived{i, uint8(k)})
		}
	}
	found.States = len(came)
	return found, nil
}

// take runs one event, and says what does not hold then, or "".
func (u Unsliced) take(x situation, e session.Event) (situation, string) {
	to, effects, steps := u.Next(x.s, hereNow(x.s), e)
	seen, what := session.Watch(x.g, session.Edge{From: x.s, Event: e, To: to, Effects: effects})
	if slices.ContainsFunc(steps, func(st session.Step) bool { return st.Why == NoRow }) {
		what = NoRow
	}
	return situation{to, seen}.inForm(), what
}

// story is the events that lead to the state at, and the last one.
func (u Unsliced) story(came []arrived, at int32, last string) string {
	var back []uint8
	for ; at != 0; at = came[at].from {
		back = append(back, came[at].by)
	}
	slices.Reverse(back)
	x := situation{s: session.New(u.Settings[0])}.inForm()
	var told []string
	for _, k := range back {
		e := u.events(x)[k]
		told = append(told, eventName(e))
		x, _ = u.take(x, e)
	}
	return strings.Join(append(told, last), ", ")
}

func eventName(e session.Event) string {
	if change, is := e.(session.Configure); is {
		return fmt.Sprintf("Configure %+v", change.Config)
	}
	return coordtest.Text(reflect.ValueOf(e).Field(0).Interface().(machine.Named))
}

// events are all that may come next, one at a time: what the client, the user, the workers and the network may do. Late and
// foreign reports are left out: the slices have them, and they change nothing.
func (u Unsliced) events(x situation) []session.Event {
	s := x.s
	open, gen := turn.Open(s.Turn), genOf(s.Turn)
	out := []session.Event{
		session.OfResponse{Event: response.Create{Request: freshRequest(s)}},
		session.OfResponse{Event: response.Cancel{}},
		session.OfPlayout{Event: playout.Clear{}},
		session.OfTurn{Event: turn.Clear{}},
		session.OfTurn{Event: turn.Commit{}},
		session.OfTurn{Event: turn.ClientCandidate{}},
		session.OfTurn{Event: turn.Onset{}},
		session.OfTurn{Event: turn.IdleTimeout{}},
	}
	if open != 0 {
		out = append(
			out,
			session.OfTurn{Event: turn.Sustained{Turn: open}},
			session.OfTurn{Event: turn.Misfire{Turn: open}},
			session.OfTurn{Event: turn.Silence{Turn: open}},
			session.OfTurn{Event: turn.NoSpeech{Turn: open, Gen: gen}},
			session.OfTurn{Event: turn.EndOfUtterance{Turn: open, Gate: true}},
			session.OfTurn{Event: turn.GatePassed{Turn: open, Gen: gen}},
			session.OfTurn{Event: turn.GateRefused{Turn: open, Gen: gen, FallbackMS: 4000}},
		)
	}
	for _, c := range u.Settings {
		if c != s.Config {
			out = append(out, session.Configure{Config: c})
		}
	}
	out = append(out, wholeConn(s)...)
	out = append(out, wholeWords(s)...)
	return append(out, wholeReplies(s, x.g.Body)...)
}

// wholeConn is what the network and the server's operator may do.
func wholeConn(s session.State) []session.Event {
	switch c := s.Conn.(type) {
	case conn.Connecting:
		return []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}, session.OfConn{Event: conn.Close{Reason: conn.ByClient}}}
	case conn.Live:
		return []session.Event{session.OfConn{Event: conn.Lost{}}, session.OfConn{Event: conn.Close{Reason: conn.ByClient}}}
	case conn.Interrupted:
		return []session.Event{session.OfConn{Event: conn.Restored{}}, session.OfConn{Event: conn.GraceExpired{Gen: c.Gen}}}
	case conn.Closing, conn.Closed:
	}
	return nil
}

// wholeWords is what the recogniser may say of each stream.
func wholeWords(s session.State) []session.Event {
	var out []session.Event
	for _, stream := range []transcription.State{s.Live, s.Final, s.Older} {
		switch at := stream.(type) {
		case transcription.Opening:
			out = append(out, session.OfTranscription{Event: transcription.Ready(at)}, session.OfTranscription{Event: transcription.Refuse(at)})
		case transcription.Streaming:
			out = append(out, session.OfTranscription{Event: transcription.Failed{Turn: at.Turn}})
		case transcription.Finalizing:
			out = append(
				out,
				session.OfTranscription{Event: transcription.Done{Turn: at.Turn}},
				session.OfTranscription{Event: transcription.Done{Turn: at.Turn, Empty: true}},
				session.OfTranscription{Event: transcription.Failed{Turn: at.Turn}},
			)
		case transcription.Closed, transcription.Unavailable:
		}
	}
	return out
}

// wholeReplies is what the body that runs, the speaker and a client that reports may say.
func wholeReplies(s session.State, runs response.ID) []session.Event {
	var out []session.Event
	if runs != 0 {
		out = append(out, session.OfSynthesis{Event: synthesis.WorkerExited{}}, session.OfPlayout{Event: playout.Begin{Resp: runs}})
		if _, said := s.Synthesis.(synthesis.Closed); said {
			for _, status := range []response.Status{response.Completed, response.Incomplete, response.Failed} {
				out = append(out, session.OfResponse{Event: response.BodyEnded{ID: runs, Status: status}})
			}
		}
	}
	switch p := s.Playout.(type) {
	case playout.Playing:
		out = append(out, session.OfPlayout{Event: playout.Drained(p)})
	case playout.Held:
		out = append(
			out,
			session.OfPlayout{Event: playout.Ready{Candidate: p.Client, At: heardPosition}},
			session.OfPlayout{Event: playout.ReadyExpired{Candidate: p.Client}},
		)
	case playout.Cut:
		out = append(
			out,
			session.OfPlayout{Event: playout.Heard{Resp: p.Resp, At: heardPosition}},
			session.OfPlayout{Event: playout.HeardExpired{Resp: p.Resp}},
		)
	case playout.Silent, playout.Terminated:
	}
	return out
}
