package session

// Who may act on runs, and in which order the requests are carried out.

import (
	"context"
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

const approves = `{"type":"antiphon.run.reply","run_id":"run_1","interaction_id":"ia_1","approve":true}`

// withRuns gives the client runs. started returns the requests that have begun.
func (b *clientBench) withRuns(keyed bool) (started func() []wire.ClientEvent) {
	var all []wire.ClientEvent
	b.Runs = runs.New(runs.Parts{
		Env: env.System(), Settings: b.Settings, Context: context.Background(), Workers: env.NewGroup(env.System()), Post: func(runs.Event) bool { return true },
		Access: runs.Access{Keyed: keyed, Act: func(_ context.Context, e wire.ClientEvent) *wire.Error { all = append(all, e); return nil }},
	})
	return func() []wire.ClientEvent {
		b.Runs.Workers.Wait() // one request is under way at a time, so one goroutine writes
		return all
	}
}

// acted ends the request that is under way.
func (b *clientBench) acted(refused *wire.Error) (room.Origin, room.List) {
	b.Runs.Workers.Wait()
	return b.Runs.Handle(runs.Acted{Refused: refused}, &b.state)
}

func TestWhoMayActOnRuns(t *testing.T) {
	b := newBench(t).open()
	started := b.withRuns(false)
	b.g.Expect(b.takes(nil, approves)).To(gomega.Equal([]string{"unsupported_event"}), "it knows no extensions")
	b.takes(nil, `{"type":"antiphon.hello"}`)
	b.g.Expect(b.takes(nil, approves)).To(gomega.Equal([]string{"client_secret_not_allowed"}))
	for _, rules := range []bool{false, true} {
		side := &link.SidebandController{Rules: rules, Tab: new(link.EventTab)}
		b.g.Expect(b.takes(side, approves)).To(gomega.Equal([]string{"unsupported_event"}))
		side.SetExtended()
		want := []string{"client_secret_not_allowed"}
		if rules {
			want = nil // the controller has shown a key, although the call is one of a client secret
		}
		b.g.Expect(b.takes(side, approves)).To(gomega.Equal(want))
		b.g.Expect(b.takes(side, `{"type":"antiphon.run.follow"}`)).To(gomega.Equal([]string{"client_secret_not_allowed"}), "the holder of the client secret would hear of the runs")
	}
	b.g.Expect(started()).To(gomega.HaveLen(1))
	b.Runs.Access = runs.Access{Keyed: true}
	b.g.Expect(b.takes(nil, approves)).To(gomega.Equal([]string{"no_background_tools"}))
}

func TestRequestsForRunsAreCarriedOutInOrder(t *testing.T) {
	b := newBench(t).open()
	started := b.withRuns(true)
	b.takes(nil, `{"type":"antiphon.hello"}`)
	const most = 16
	for i := range most {
		b.g.Expect(b.takes(nil, fmt.Sprintf(`{"type":"antiphon.run.cancel","event_id":"event_%d","run_id":"run_%d"}`, i, i))).To(gomega.BeEmpty())
	}
	b.g.Expect(b.takes(nil, approves)).To(gomega.Equal([]string{"rate_limit_exceeded"}))
	for i := range most {
		b.g.Expect(started()).To(gomega.HaveLen(i+1), "one at a time")
		b.g.Expect(started()[i]).To(gomega.HaveField("RunID", fmt.Sprintf("run_%d", i)))
		var refused *wire.Error
		if i == 1 {
			refused = &wire.Error{Code: "run_ended", Message: "it has succeeded"}
		}
		o, out := b.acted(refused)
		b.g.Expect(o.Event).To(gomega.Equal(fmt.Sprintf("event_%d", i)))
		if i == 1 {
			b.g.Expect(out[0].(room.Fail).Failure.Code).To(gomega.Equal("run_ended"))
			continue
		}
		b.g.Expect(out).To(gomega.Equal(room.List{room.Answer{Event: &wire.AntiphonAck{Acknowledges: o.Event}}}))
	}
	b.g.Expect(b.takes(nil, approves)).To(gomega.BeEmpty(), "there is room again")
}

func TestARequestForARunThatIsSentAgainCountsOnce(t *testing.T) {
	b := newBench(t).open()
	started := b.withRuns(true)
	b.takes(nil, `{"type":"antiphon.hello"}`)
	const cancels = `{"type":"antiphon.run.cancel","event_id":"event_1","run_id":"run_1"}`
	b.takes(nil, cancels)
	b.acted(nil)
	b.Survival.Left()
	b.g.Expect(b.takes(nil, cancels)).To(gomega.Equal([]string{"to the sender: antiphon.ack"}))
	b.g.Expect(started()).To(gomega.HaveLen(1))
}
