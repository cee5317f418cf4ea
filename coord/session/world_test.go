package session

// A driver of the composition with everything around it, for random schedules: client, user, recogniser, model and network.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// world is a driver that keeps its contract, with everything around it: client, user, recogniser, model and network. It knows from
// the effects alone which reports it owes to the machines.
type world struct {
	s     State
	g     Seen
	parts parts
	pick  func(n int) int // a choice among n
	first State
	told  []beat // the story so far

	hooks
	at playout.Position

	body     response.ID // whose body runs
	voiced   bool        // its voice's worker has not ended
	texts    bool        // its text has not ended
	begun    bool        // its audio has
	clauses  uint32
	streams  map[turn.ID]stream
	segments []playout.Drained // that play or have played, the newest last
	timers   []turn.FallbackExpired
	gates    []turn.AskGate
	graces   []uint32
	verdict  turn.ID // the candidate that waits for one
	paused   bool    // Silence was said of the open turn
}

// hooks are what a test puts in the place of a world's own behaviour. Each may be nil.
type hooks struct {
	next     nextFunc          // in the place of Next
	onStep   func(Event, Step) // sees every step
	onEffect func(Effect)      // performs every effect
}

// stream is the recogniser of one turn, as the driver knows it.
type stream struct {
	ready, ended bool // its first report has come; its audio has ended
	whole        bool // it decodes the audio in one piece
}

func newWorld(c Config, pick func(int) int) *world {
	return &world{s: New(c), first: New(c), pick: pick, streams: map[turn.ID]stream{}}
}

// beat is one event of a story, with the position of the response.
type beat struct {
	at playout.Position
	e  Event
}

// play takes n events, or fewer when the session ends, and then lets it come to rest. It returns what does not hold.
func (w *world) play(n int) string {
	for range n {
		if _, closed := w.s.Conn.(conn.Closed); closed {
			break
		}
		if w.pick(4) == 0 { // time passes, and with it what is heard
			w.at.MS += uint32(w.pick(200))
		}
		if broken := w.take(w.choose()); broken != "" {
			return broken
		}
	}
	return w.settle()
}

// take steps the session, checks every invariant there is, and notes what the effects ask for.
func (w *world) take(e Event) (broken string) {
	from := w.s
	w.told = append(w.told, beat{w.at, e})
	defer func() {
		if what := recover(); what != nil { // so that it is told how to get there
			broken = fmt.Sprintf("panic: %v", what)
		}
	}()
	run := w.next
	if run == nil {
		run = Next
	}
	next, effects, steps := run(from, w.at, e)
	w.s = next
	w.reported(e)
	for _, f := range effects {
		w.perform(f)
		if w.onEffect != nil {
			w.onEffect(f)
		}
	}
	for _, st := range steps {
		if w.onStep != nil {
			w.onStep(e, st)
		}
	}
	if broken := w.parts.watch(steps); broken != "" {
		return broken
	}
	w.g, broken = Watch(w.g, Edge{from, e, next, effects})
	if broken != "" {
		return broken + " does not hold"
	}
	return ""
}

// story is what was told, without the beats that are not needed for what does not hold.
func (w *world) story(broken string) string {
	told := w.told
	for again := true; again && broken != ""; {
		again = false
		for i := len(told) - 1; i >= 0; i-- {
			if shorter := slices.Delete(slices.Clone(told), i, i+1); w.retell(shorter) == broken {
				told, again = shorter, true
			}
		}
	}
	lines := []string{eventText(Configure{w.first.Config})}
	for _, b := range told {
		lines = append(lines, eventText(b.e))
	}
	return strings.Join(lines, "\n")
}

// retell steps a fresh session through a story and returns what does not hold.
func (w *world) retell(told []beat) string {
	w = &world{s: w.first, hooks: hooks{next: w.next}, pick: func(int) int { return 1 }, streams: map[turn.ID]stream{}}
	for _, b := range told {
		w.at = b.at
		if broken := w.take(b.e); broken != "" {
			return broken
		}
	}
	return ""
}

// --- what the driver owes, from what it was told

func (w *world) perform(f Effect) {
	switch f := f.(type) {
	case response.StartBody:
		w.body, w.voiced, w.texts, w.begun = f.ID, true, true, false
	case transcription.OpenStream:
		w.streams[f.Turn] = stream{}
	case transcription.CloseInput:
		st := w.streams[f.Turn]
		st.ended = true
		w.streams[f.Turn] = st
	case transcription.DecodeWhole:
		w.streams[f.Turn] = stream{ready: true, ended: true, whole: true}
	case transcription.CloseStream:
		delete(w.streams, f.Turn)
	case playout.Play:
		w.at = playout.Position{Item: 1}
		w.segments = append(w.segments, playout.Drained{Resp: f.Resp, Gen: f.Gen})
	case playout.RewindAndResume:
		w.at = f.From
		w.segments = append(w.segments, playout.Drained{Resp: f.Resp, Gen: f.Gen})
	case turn.ArmFallback:
		w.timers = append(w.timers, turn.FallbackExpired{Turn: f.Turn, Gen: f.Gen})
	case turn.AskGate:
		w.gates = append(w.gates, f)
	case turn.OpenCandidate:
		w.verdict, w.paused = f.Turn, false
	case turn.OpenTurn:
		w.paused = false
	case conn.ArmGrace:
		w.graces = append(w.graces, f.Gen)
	}
}

// reported notes what e settles of it.
func (w *world) reported(e Event) {
	switch e := e.(type) {
	case OfResponse:
		if b, ended := e.Event.(response.BodyEnded); ended && b.ID == w.body {
			w.body = 0
		}
	case OfSynthesis:
		switch e.Event.(type) {
		case synthesis.WorkerExited:
			w.voiced = false
		case synthesis.Finish:
			w.texts = false
		case synthesis.Enqueue, synthesis.Cancel:
		}
	case OfPlayout:
		switch ev := e.Event.(type) {
		case playout.Begin:
			w.begun = true
		case playout.Drained:
			w.segments = slices.DeleteFunc(w.segments, func(d playout.Drained) bool { return d == ev })
		case playout.Candidate, playout.Confirm, playout.Reject, playout.Clear, playout.Ready, playout.ReadyExpired,
			playout.Heard, playout.HeardExpired, playout.Missed, playout.Shutdown:
		}
	case OfTurn:
		w.turnReported(e.Event)
	case OfTranscription:
		w.streamReported(e.Event)
	case OfConn, Configure:
	}
}

func (w *world) turnReported(e turn.Event) {
	switch e := e.(type) {
	case turn.Silence:
		w.paused = true
	case turn.VoiceResumed:
		w.paused = false
	case turn.FallbackExpired:
		w.timers = slices.DeleteFunc(w.timers, func(f turn.FallbackExpired) bool { return f == e })
	case turn.GatePassed:
		w.gates = slices.DeleteFunc(w.gates, func(f turn.AskGate) bool { return f == turn.AskGate(e) })
	case turn.NoSpeech:
		w.gates = slices.DeleteFunc(w.gates, func(f turn.AskGate) bool { return f == turn.AskGate(e) })
	case turn.GateRefused:
		w.gates = slices.DeleteFunc(w.gates, func(f turn.AskGate) bool { return f.Turn == e.Turn && f.Gen == e.Gen })
	case turn.Onset, turn.ClientCandidate, turn.Sustained, turn.Misfire, turn.EndOfUtterance, turn.Commit, turn.Clear,
		turn.IdleTimeout, turn.Shutdown:
	}
}

func (w *world) streamReported(e transcription.Event) {
	switch e := e.(type) {
	case transcription.Ready:
		st := w.streams[e.Turn]
		st.ready = true
		w.streams[e.Turn] = st
	case transcription.Refuse:
		delete(w.streams, e.Turn) // its last word; what follows from it is performed after this
	case transcription.Failed:
		delete(w.streams, e.Turn)
	case transcription.Done:
		delete(w.streams, e.Turn)
	case transcription.Open, transcription.EOU, transcription.Resumed, transcription.Finish, transcription.Decode,
		transcription.Abandon, transcription.Shutdown:
	}
}

// settle does everything that is owed, until nothing is: a driver that keeps its contract is then at rest.
func (w *world) settle() string {
	for range 200 {
		e := w.owed()
		if e == nil {
			return w.atRest()
		}
		if broken := w.take(e); broken != "" {
			return broken
		}
	}
	return "Settles: it never comes to rest"
}

// owed is something that must happen if nothing else does, or nil.
func (w *world) owed() Event {
	switch w.s.Conn.(type) {
	case conn.Connecting:
		return OfConn{conn.Opened{VAD: true}}
	case conn.Interrupted:
		return OfConn{conn.Restored{}}
	case conn.Live, conn.Closing, conn.Closed:
	}
	switch st := w.s.Turn.(type) {
	case turn.Candidate:
		if w.pick(2) == 0 {
			return OfTurn{turn.Misfire{Turn: st.Turn}}
		}
		return OfTurn{turn.Sustained{Turn: st.Turn}}
	case turn.Speaking:
		return OfTurn{turn.Silence{Turn: st.Turn}}
	case turn.Confirming:
		return OfTurn{turn.GatePassed(st)}
	case turn.Idle:
	}
	if e := w.unreported(); e != nil {
		return e
	}
	for _, t := range w.open() {
		switch st := w.streams[t]; {
		case !st.ready:
			return OfTranscription{transcription.Ready{Turn: t}}
		case st.ended:
			return OfTranscription{transcription.Done{Turn: t, Empty: w.pick(4) == 0}}
		}
	}
	switch {
	case w.body != 0 && w.texts:
		return OfSynthesis{synthesis.Finish{}}
	case w.body != 0 && w.voiced:
		return OfSynthesis{synthesis.WorkerExited{}}
	case w.body != 0:
		return OfResponse{response.BodyEnded{ID: w.body, Status: response.Completed}}
	}
	if len(w.segments) > 0 {
		return OfPlayout{w.segments[0]}
	}
	return nil
}

// unreported is the time-out of what a client has still to report, or nil.
func (w *world) unreported() Event {
	switch p := w.s.Playout.(type) {
	case playout.Held:
		if p.Awaits {
			return OfPlayout{playout.ReadyExpired{Candidate: p.Client}}
		}
	case playout.Cut:
		return OfPlayout{playout.HeardExpired{Resp: p.Resp}}
	case playout.Silent, playout.Playing, playout.Terminated:
	}
	return nil
}

// atRest says what is left of a session in which nothing is owed any more.
func (w *world) atRest() string {
	switch w.s.Conn.(type) {
	case conn.Closed:
		return ""
	case conn.Closing:
		return "TeardownEnds: it does not close"
	case conn.Connecting, conn.Live, conn.Interrupted:
	}
	_, idle := w.s.Turn.(turn.Idle)
	_, over := w.s.Response.(response.Idle)
	_, silent := w.s.Playout.(playout.Silent)
	switch {
	case !idle, transcription.TurnOf(w.s.Live) != 0, transcription.TurnOf(w.s.Final) != 0, transcription.TurnOf(w.s.Older) != 0:
		return "Settles: a turn is left"
	case !over, !silent, w.s.Queued != Queue{}:
		return "Settles: a reply is left"
	case w.s.Waiting != 0, w.s.Owed != machine.Request{}, w.g.Taken:
		return "Settles: an answer is owed"
	}
	return ""
}

// open are the turns with a stream, in order.
func (w *world) open() []turn.ID {
	out := make([]turn.ID, 0, len(w.streams))
	for t := range w.streams {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}
