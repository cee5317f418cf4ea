package session

// The monitors of the single machines, while they run inside a session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// parts watches each machine of a session with the machine's own monitor. The composition is the driver of these machines, so its
// events must keep their contracts, on which their proofs depend.
type parts struct {
	last      map[string]machine.Named
	conn      conn.Seen
	turn      turn.Seen
	response  response.Seen
	playout   playout.Seen
	synthesis synthesis.Seen
	streams   map[string]transcription.Seen
	handed    transcription.Seen
}

// watch returns the invariant that does not hold, or "".
func (p *parts) watch(steps []Step) string {
	if p.last == nil {
		p.last, p.streams = map[string]machine.Named{}, map[string]transcription.Seen{}
	}
	for _, st := range steps {
		if last, known := p.last[st.Machine]; known && last != st.From {
			return st.Machine + ": it was " + last.Name() + " and now goes from " + st.From.Name()
		}
		p.last[st.Machine] = st.To
		if st.Why == "no row" {
			return st.Machine + ": no row for " + st.Event.Name() + " in " + st.From.Name()
		}
		if st.Why != "" {
			continue
		}
		if broken := p.one(st); broken != "" {
			return broken + " of " + st.Machine + " does not hold at " + coordtest.Text(st.Event)
		}
	}
	return ""
}

func (p *parts) one(st Step) string {
	switch st.Machine {
	case "conn":
		return watch(conn.Monitor, &p.conn, st)
	case "turn":
		return watch(turn.Monitor, &p.turn, st)
	case "response":
		return watch(response.Monitor, &p.response, st)
	case "playout":
		return watch(playout.Monitor, &p.playout, st)
	case "synthesis":
		if st.Action == "Begin" { // a machine a body
			p.synthesis = synthesis.Seen{}
			return ""
		}
		return watch(synthesis.Monitor, &p.synthesis, st)
	}
	g := p.streams[st.Machine]
	broken := ""
	switch st.Action {
	case "HandOver":
		p.handed, g = g, transcription.Seen{}
	case "TakeOver":
		g = p.handed
	default:
		broken = watch(transcription.Monitor, &g, st)
	}
	p.streams[st.Machine] = g
	return broken
}

func watch[S, E, F machine.Named, G any](m machine.Monitor[S, E, F, G], g *G, st Step) string {
	step := machine.Edge[S, E, F]{From: st.From.(S), Event: st.Event.(E), To: st.To.(S)}
	for _, f := range st.Effects {
		step.Effects = append(step.Effects, f.(F))
	}
	var broken string
	*g, broken = m.Watch(*g, step)
	return broken
}
