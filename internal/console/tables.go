package console

// The tables of the machines, for the diagrams of the page.

import (
	"net/http"
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/coord/compaction"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/coord/voicegate"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
)

// diagram is a machine: its states, the first one first, and its arrows from one state to another one, with the events that lead along them.
type diagram struct {
	States []string `json:"states"`
	Arrows []arrow  `json:"arrows"`
}

type arrow struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Events []string `json:"events"`
}

// draw draws a table.
func draw[S, E machine.Named, F any](t machine.Table[S, E, F], initial S) (d diagram) {
	d.States = []string{initial.Name()}
	for _, r := range t {
		for _, s := range []string{r.From, r.To} {
			if !slices.Contains(d.States, s) {
				d.States = append(d.States, s)
			}
		}
		if r.Why != "" || r.From == r.To {
			continue
		}
		i := slices.IndexFunc(d.Arrows, func(a arrow) bool { return a.From == r.From && a.To == r.To })
		if i < 0 {
			i = len(d.Arrows)
			d.Arrows = append(d.Arrows, arrow{From: r.From, To: r.To})
		}
		if !slices.Contains(d.Arrows[i].Events, r.Event) {
			d.Arrows[i].Events = append(d.Arrows[i].Events, r.Event)
		}
	}
	return d
}

// diagrams are those of the machines that a session has.
var diagrams = sync.OnceValue(func() map[string]diagram {
	return map[string]diagram{
		"conn": draw(conn.Table, conn.State(conn.Connecting{})), "turn": draw(turn.Table, turn.State(turn.Idle{})),
		"response": draw(response.Table, response.State(response.Idle{})), "playout": draw(playout.Table, playout.State(playout.Silent{})),
		"transcription": draw(transcription.Table, transcription.State(transcription.Closed{})), "synthesis": draw(synthesis.Table, synthesis.State(synthesis.Open{})),
		"generation": draw(generation.Table, generation.State(generation.Announced{})), "draft": draw(draft.Table, draft.State(draft.Idle{})),
		"voicegate": draw(voicegate.Table, voicegate.State(voicegate.Waiting{})), "compaction": draw(compaction.Table, compaction.State(compaction.Idle{})),
		"remotecall": draw(remotecall.Table, remotecall.State(remotecall.Writing{})), "turnend": draw(turnend.Table, turnend.State(turnend.Final{})), "continuation": draw(continuation.Table, continuation.State(continuation.Quiet{})),
	}
})

func machines(w http.ResponseWriter, _ *http.Request) *answer.Problem {
	answer.JSON(w, http.StatusOK, diagrams())
	return nil
}
