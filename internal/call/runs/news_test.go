package runs

// News of background work: how many wait for the end of a response, and when the session speaks of them.

import (
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// informed returns the Runs of a call with an empty conversation.
func informed() *Runs {
	p := scripted.New(scripted.Options{})
	return New(Parts{
		Log:          slog.New(slog.DiscardHandler),
		Settings:     conversation.NewSettings(env.System(), p, wire.DefaultSession(), nil),
		Conversation: conversation.New(env.System(), p.Model),
	})
}

// live returns the state of a session in which nobody speaks.
func live() coord.State {
	s := coord.New(coord.Config{})
	s.Conn = conn.Live{}
	return s
}

func TestSoManyNewsWaitForTheEndOfAResponse(t *testing.T) {
	g, r, s := gomega.NewWithT(t), informed(), live()
	s.Response = response.Active{ID: 1}
	for n := range uint64(maxHeldNews) {
		g.Expect(r.news(tool.News{Run: "r", Text: "It goes on.", Seq: n + 1}, &s)).To(gomega.BeEmpty())
	}
	g.Expect(r.news(tool.News{Run: "r", Text: "It goes on.", Seq: maxHeldNews + 1}, &s)).NotTo(gomega.BeEmpty(), "they are in the conversation")
	s.Response = response.Idle{}
	g.Expect(r.addHeldNews(&s)).To(gomega.HaveLen(2*maxHeldNews), "each is added and done")
	g.Expect(r.addHeldNews(&s)).To(gomega.BeEmpty())
}

func TestTheSessionSpeaksOnceNobodyDoes(t *testing.T) {
	for name, row := range map[string]struct {
		change     func(*coord.State)
		now, later bool
	}{
		"nobody speaks":                 {func(*coord.State) {}, true, true},
		"a response is made":            {func(s *coord.State) { s.Response = response.Active{ID: 1} }, false, true},
		"the client is away":            {func(s *coord.State) { s.Conn = conn.Interrupted{} }, false, true},
		"the user speaks":               {func(s *coord.State) { s.Turn = turn.Speaking{Turn: 1} }, false, false},
		"a turn waits for its response": {func(s *coord.State) { s.Waiting = 1 }, false, false},
	} {
		s := live()
		row.change(&s)
		now, later := informed().mayAnswer(&s)
		gomega.NewWithT(t).Expect([]bool{now, later}).To(gomega.Equal([]bool{row.now, row.later}), name)
	}
}
