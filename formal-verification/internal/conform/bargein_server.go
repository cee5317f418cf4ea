package conform

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The server's half of the comparison with bargein.fizz. Next to every state of the spec there is a whole session of coord/session
// with a small driver. Every step of the spec's server is an event of this session, and both must reach the same state.

// serving has the variables of the spec's server.
type serving struct {
	Kind, Turn, Play       string
	Pos, Sent, Start, Cand int
	Ready, Rejected        bool
	Soft                   bool
	Late, Redo             int
	Again                  bool
	Stop, Back             []int
	Dead, Said             bool
	Next                   string
}

// server is the server of a node, with the session of the code that it is compared with.
type server struct {
	serving
	up, down    []string
	media       []int
	asking, cut int // the candidate that is told of; where the item must be cut
	wrong       string
	session     session.State
	next        nextFunc
	met         map[string]bool
	acted       bool // the code has not ignored all of it
	plays       bool // the response played before the event
}

// units returns UNITS of the spec for this kind of server.
func (v *server) units() int {
	if v.Kind == "extended" {
		return 1
	}
	return 2
}

// compareServer compares the server's half of the spec with the code.
func (b *bargeinExchange) compareServer(g *graph.Graph) (Figures, error) {
	b.served = map[string]bool{}
	var starts []driven[session.State]
	for _, n := range g.Init {
		s, err := b.begins(b.nodes[n])
		if err != nil {
			return Figures{}, err
		}
		starts = append(starts, s)
	}
	figures, err := Part[driven[session.State], said]{
		Spec: "bargein", Starts: starts, Step: b.serverStep,
		WithoutEffects: true, Ghosts: []string{"c", "p", "g", "up", "down", "media"},
		May: func(c driven[session.State], node int) []string {
			return slices.Sorted(maps.Keys(b.nodes[node].serverMeets(c.code)))
		},
		Vars: func(c driven[session.State]) map[string]string { return map[string]string{"s": c.driver} },
	}.Compare(g)
	if err != nil {
		return figures, err
	}
	for _, action := range bargeinServes {
		if !b.served[action] {
			return figures, &Difference{What: "the server's playout never does this in the exchange: " + action}
		}
	}
	return figures, nil
}

// bargeinServes are the rows of coord/playout that this comparison must visit.
var bargeinServes = []string{
	"HoldTail", "Hold", "HoldForNewer", "HoldAgain", "Ready", "ResumeWhenReady", "GiveReadyUp", "ResumeUnready", "RejectUnready", "Reject",
	"ConfirmReported", "Confirm", "Truncate", "TruncateUnheard", "Drained",
}

// begins returns a session that plays its first response.
func (b *bargeinExchange) begins(x exchange) (driven[session.State], error) {
	config := session.Config{Interrupt: true, CreateResponse: true, Reports: x.S.Kind != "plain"}
	v := server{serving: x.S, session: session.New(config), next: b.next, met: map[string]bool{}}
	v.take(session.OfConn{Event: conn.Opened{VAD: true}}, session.OfResponse{Event: response.Create{Request: theRequest}},
		session.OfPlayout{Event: playout.Begin{Resp: 1}})
	if _, plays := v.session.Playout.(playout.Playing); !plays {
		return driven[session.State]{}, &Difference{What: "the server does not begin to play"}
	}
	return driven[session.State]{v.named(), fieldsText(v.serving)}, nil
}

// serverStep gives the event of an action to the session.
func (b *bargeinExchange) serverStep(c driven[session.State], step move) (driven[session.State], []said, string) {
	x := b.nodes[step.From]
	do, servers := x.serverMeets(c.code)[step.Action]
	if !servers {
		return c, nil, elsewhere
	}
	v := server{
		serving: x.S, up: slices.Clone(x.Up), down: slices.Clone(x.Down), media: slices.Clone(x.Media),
		session: c.code, next: b.next, met: b.served,
	}
	v.Stop, v.Back = slices.Clone(v.Stop), slices.Clone(v.Back)
	do(&v)
	if step.is == nil {
		if v.acted || v.wrong != "" {
			return driven[session.State]{v.named(), v.wrong}, nil, ""
		}
		return c, nil, "the server ignores it"
	}
	v.describe()
	if what := v.differs(b.nodes[step.To]); what != "" {
		return c, nil, what
	}
	return driven[session.State]{v.named(), fieldsText(v.serving)}, nil, ""
}

// serverMeets returns the server's actions that may come now, and what each of them is in the code. After the end there are none.
func (x exchange) serverMeets(s session.State) map[string]func(*server) {
	if _, closed := s.Conn.(conn.Closed); closed {
		return nil
	}
	out := map[string]func(*server){
		"Close": (*server).close, "Confirm": (*server).confirm,
		"Reject": func(v *server) {
			v.settle()
			v.take(session.OfTurn{Event: turn.Misfire{Turn: turn.Open(v.session.Turn)}})
		},
	}
	v := x.S
	if v.Soft {
		out["Lasts"] = (*server).lasts
	}
	if len(x.Up) > 0 {
		out["RecvUp"] = (*server).receive
	}
	if len(x.Media) == 0 {
		out["Send"] = (*server).send
	}
	if v.Kind == "hurried" && !v.Soft {
		out["ReadyTimeout"] = (*server).readyTimeout
	}
	if v.Kind == "hurried" {
		out["HeardTimeout"] = func(v *server) {
			v.cut = v.Start
			v.take(session.OfPlayout{Event: playout.HeardExpired{Resp: 1}})
		}
	}
	if v.Said || v.Kind != "extended" {
		out["Answer"] = (*server).answer
	}
	first := !v.Dead && v.Next == ""
	if first && (v.Kind != "hurried" || v.Again) && x.C.State != "Silent" && (v.Play != "silent" || v.Kind == "plain") {
		out["ServerOnset"] = func(v *server) { v.take(session.OfTurn{Event: turn.Onset{}}) }
	}
	if first && v.Kind == "plain" && v.Turn == "idle" && v.Play == "silent" {
		out["ReplyAfter"] = func(v *server) {
			v.bodyEnds(response.Completed)
			v.take(session.OfResponse{Event: response.Create{Request: theRequest}}, session.OfPlayout{Event: playout.Begin{Resp: 2}})
		}
	}
	return out
}

// send: what is held goes on while it is soft.
func (v *server) send() {
	p, plays := v.session.Playout.(playout.Playing)
	if !plays && !(v.Soft && v.Pos < v.units()) {
		return
	}
	v.acted = true
	switch {
	case plays && p.Resp != 1:
		v.media = append(v.media, bargeinSilence-1)
	default:
		v.Pos++
		v.Sent = v.Pos
		mark := v.Pos
		if v.Again {
			mark += bargeinAgain
		}
		v.media = append(v.media, mark)
		if v.Pos < v.units() || !plays {
			return
		}
	}
	v.take(session.OfPlayout{Event: playout.Drained(p)})
}

// receive takes a message of the client. A candidate for an interrupted response was sent before the client received the
// interruption. Only the newest candidate of a client counts.
func (v *server) receive() {
	words := strings.Fields(v.up[0])
	v.up, v.acted = v.up[1:], true
	numbers := make([]int, len(words))
	for i, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil {
			v.wrong = fmt.Sprintf("the server cannot read %v", words)
			return
		}
		numbers[i] = n
	}
	held, _ := v.session.Playout.(playout.Held)
	switch n := numbers[0]; words[0] {
	case "candidate":
		if !v.Dead {
			v.asking = n
			v.takeAt(v.place(numbers[1], v.Back), session.OfTurn{Event: turn.ClientCandidate{}})
		}
	case "ready":
		place := v.place(numbers[1], v.Back)
		if n == v.Late && v.Cand == 0 && !v.Dead {
			v.missed(place)
		}
		if n != v.Cand {
			return
		}
		if held.Awaits {
			v.Back[n-1] = place
		}
		v.take(session.OfPlayout{Event: playout.Ready{Candidate: held.Client, At: unitPosition(place)}})
	case "heard":
		v.cut = v.place(n, v.Stop)
		v.take(session.OfPlayout{Event: playout.Heard{Resp: 1, At: unitPosition(v.cut)}})
	default:
		v.wrong = "the server knows no message " + words[0]
	}
}

// place returns the unit of a position. For a silence it is the unit that of has for it. What was played before the server went back counts up to where it went back to.
func (v *server) place(mark int, of []int) int {
	switch {
	case mark > bargeinSilence && mark < bargeinAgain:
		return of[mark-bargeinSilence-1]
	case v.Again && mark < bargeinAgain:
		return min(mark, v.Redo)
	}
	return mark % bargeinAgain
}

// missed goes back to a unit, because the client has missed what follows.
func (v *server) missed(unit int) {
	v.Late, v.Again, v.Redo, v.Sent = 0, true, unit, unit
	if v.Soft {
		v.Pos = unit
		return
	}
	v.take(session.OfPlayout{Event: playout.Missed{Resp: 1, From: unitPosition(unit)}})
}

// settle tells the machine how far a response was heard that is held and goes on: the verdict comes.
func (v *server) settle() {
	held, is := v.session.Playout.(playout.Held)
	if _, judged := v.session.Turn.(turn.Candidate); !v.Soft || !is || !judged {
		return
	}
	v.Soft = false
	if v.Cand != 0 {
		v.Late = v.Cand
	}
	v.heardUpTo(held)
}

func (v *server) heardUpTo(held playout.Held) {
	if held.Awaits {
		v.take(session.OfPlayout{Event: playout.Ready{Candidate: held.Client, At: unitPosition(v.Pos)}})
		return
	}
	v.take(session.OfPlayout{Event: playout.Missed{Resp: 1, From: unitPosition(v.Pos)}})
}

// lasts ends the sound of a response that is held.
func (v *server) lasts() {
	v.Soft, v.acted = false, true
	if v.Cand != 0 {
		v.silence()
		return
	}
	v.take(session.OfPlayout{Event: playout.Missed{Resp: 1, From: unitPosition(v.Pos)}})
}

// silence answers the client's candidate with the silence that begins.
func (v *server) silence() {
	v.Stop[v.Cand-1] = v.Sent
	v.media = append(v.media, bargeinSilence+v.Cand)
	v.down = append(v.down, fmt.Sprintf("ack %d", v.Cand))
}

func unitPosition(unit int) playout.Position { return playout.Position{Item: 1, MS: uint32(unit)} }

func (v *server) readyTimeout() {
	held, _ := v.session.Playout.(playout.Held)
	if held.Awaits {
		v.Back[v.Cand-1] = int(held.At.MS)
	}
	v.take(session.OfPlayout{Event: playout.ReadyExpired{Candidate: held.Client}})
}

// confirm confirms the candidate: there is enough speech, or enough words. The body of the response is cancelled.
func (v *server) confirm() {
	v.settle()
	v.cut = v.Sent
	if v.take(session.OfTurn{Event: turn.Sustained{Turn: turn.Open(v.session.Turn)}}); v.acted {
		v.bodyEnds(response.ClientCancelled)
	}
}

// answer ends the turn, delivers its text, and brings the first audio of the response to it.
func (v *server) answer() {
	open := turn.Open(v.session.Turn)
	v.take(session.OfTurn{Event: turn.Silence{Turn: open}}, session.OfTranscription{Event: transcription.Done{Turn: open}},
		session.OfPlayout{Event: playout.Begin{Resp: 2}})
}

func (v *server) bodyEnds(status response.Status) {
	v.take(session.OfSynthesis{Event: synthesis.WorkerExited{}},
		session.OfResponse{Event: response.BodyEnded{ID: body(v.session.Response), Status: status}})
}

func (v *server) close() {
	v.take(session.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	if body(v.session.Response) != 0 {
		v.bodyEnds(response.ClientCancelled)
	}
	_, closed := v.session.Conn.(conn.Closed)
	_, ended := v.session.Playout.(playout.Terminated)
	if !closed || !ended {
		v.wrong = "the session does not close"
	}
	none := []int{0, 0}
	*v = server{serving: serving{Kind: v.Kind, Stop: none, Back: none}, session: v.session, met: v.met, wrong: v.wrong, acted: true}
}

// take gives events to the session and performs the effects. Events that follow at once are taken at once.
func (v *server) take(events ...session.Event) { v.takeAt(v.Pos, events...) }

// takeAt is take while the client plays this unit of the response.
func (v *server) takeAt(unit int, events ...session.Event) {
	for _, e := range events {
		_, v.plays = v.session.Playout.(playout.Playing)
		to, effects, steps := v.next(v.session, unitPosition(unit), e)
		v.acted = v.acted || to != v.session || len(effects) > 0
		v.session = to
		for _, st := range steps {
			if st.Machine == "playout" && st.Why == "" {
				v.met[st.Action] = true
			}
			if st.Why == NoRow {
				v.wrong = st.Machine + " has no row for " + st.Event.Name()
			}
		}
		for _, f := range effects {
			v.perform(f)
		}
	}
}

func (v *server) must(f session.Effect, so bool) {
	if !so && v.wrong == "" {
		v.wrong = fmt.Sprintf("the driver is told %s %+v", f.Name(), f)
	}
}

func (v *server) perform(f session.Effect) {
	switch f := f.(type) {
	case turn.BargeIn:
		v.down = append(v.down, "confirmed 1")
		v.Dead, v.Pos, v.Cand, v.Late, v.Soft = true, 0, 0, 0, false
	case playout.Hold:
		v.must(f, f.Resp == 1)
		v.Soft = v.plays
	case playout.AwaitReady:
		v.must(f, v.asking != 0 && f.Candidate == turn.Open(v.session.Turn))
		if v.Cand, v.Late = v.asking, 0; !v.Soft {
			v.silence()
		}
	case playout.RewindAndResume:
		v.must(f, f.Resp == 1 && !v.Dead && f.From.Item == 1)
		if v.Pos = int(f.From.MS); v.Pos == v.units() { // there is nothing left to say
			v.take(session.OfPlayout{Event: playout.Drained{Resp: f.Resp, Gen: f.Gen}})
		}
	case playout.EmitStarted:
		if f.Resp == 2 {
			v.Next = "begun"
			v.down = append(v.down, "began 2")
		}
	case playout.EmitRejected:
		v.must(f, v.Cand != 0)
		v.down = append(v.down, fmt.Sprintf("rejected %d", v.Cand))
		v.Cand = 0
	case playout.Truncate:
		v.must(f, f.Resp == 1 && f.End == unitPosition(v.cut))
	}
}

// differs returns what is wrong, or how what is on its way differs from the spec, or "".
func (v *server) differs(to exchange) string {
	if v.wrong == "" && !(slices.Equal(v.up, to.Up) && slices.Equal(v.down, to.Down) && slices.Equal(v.media, to.Media)) {
		return fmt.Sprintf("under way are then %v, %v and %v in the spec, %v, %v and %v in the code", to.Up, to.Down, to.Media, v.up, v.down, v.media)
	}
	return v.wrong
}

// describe writes the session into the variables of the spec.
func (v *server) describe() {
	v.Turn = map[string]string{"Idle": "idle", "Candidate": "candidate", "Speaking": "speaking"}[v.session.Turn.Name()]
	v.Play, v.Start, v.Ready, v.Rejected = "silent", 0, false, false
	v.Said = v.Dead
	switch p := v.session.Playout.(type) {
	case playout.Playing:
		v.Play = "playing"
	case playout.Held:
		v.Play, v.Start, v.Ready, v.Rejected = "held", int(p.At.MS), !p.Awaits, p.Rejected
		if (p.Client != 0) != (v.Cand != 0) {
			v.Play = "held for another's candidate"
		}
	case playout.Cut:
		if v.Said = false; v.Kind == "hurried" { // elsewhere the report comes
			v.Start = int(p.At.MS)
		}
	case playout.Silent, playout.Terminated:
	}
	if v.Said { // nobody asks for the log any more
		v.Stop, v.Back, v.Sent, v.Again, v.Redo = []int{0, 0}, []int{0, 0}, 0, false, 0
	}
	if v.session.Queued.Len() > 0 {
		v.Next = "waits"
	}
}

// named returns the session with the smallest numbers for its turns and the same number for every generation. The two responses
// keep their numbers.
func (v *server) named() session.State {
	same := func(r machine.Response) machine.Response { return r }
	return ranked(func(_ func(machine.Response) machine.Response, of func(machine.Turn) machine.Turn) session.State {
		return renamed(v.session, same, of)
	})
}
