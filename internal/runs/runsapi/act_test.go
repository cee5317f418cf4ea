package runsapi

// The events of a call that act on runs: the same rules and codes as over HTTP.

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestEventsActOnRuns(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	h := New(a.runs, slog.New(slog.DiscardHandler))
	id := a.begin("ann", `{"tool":"job","input":{"Approval":true}}`)
	a.until("ann", id, "waiting_user")
	reply := func(interaction, approve, reply string) *wire.AntiphonRunReply {
		e := &wire.AntiphonRunReply{RunID: id, InteractionID: interaction}
		if approve != "" {
			e.Approve = wire.Raw(approve)
		}
		if reply != "" {
			e.Reply = wire.Raw(reply)
		}
		return e
	}
	code := func(principal string, e wire.ClientEvent) string {
		if refused := h.Act(t.Context(), principal, e); refused != nil {
			g.Expect(refused.Type).To(gomega.Equal("invalid_request_error"))
			return refused.Code
		}
		return ""
	}
	for _, row := range []struct {
		principal string
		event     wire.ClientEvent
		code      string
	}{
		{"ann", reply("", "true", ""), "invalid_value"},
		{"ann", reply("ia_1", "", ""), "invalid_value"},
		{"ann", reply("ia_1", "true", "1"), "invalid_value"},
		{"ann", reply("ia_1", `"yes"`, ""), "invalid_value"},
		{"ann", reply("ia_1", "", `"yes"`), "invalid_value"},
		{"ann", reply("ia_9", "true", ""), "interaction_not_pending"},
		{"ben", reply("ia_1", "true", ""), "run_not_found"},
		{"ben", &wire.AntiphonRunCancel{RunID: id}, "run_not_found"},
		{"ann", &wire.AntiphonRunCancel{RunID: "run_1"}, "run_not_found"},
		{"ann", &wire.ResponseCreate{}, "invalid_value"},
		{"ann", reply("ia_1", "true", ""), ""},
		{"ann", reply("ia_1", "true", ""), "interaction_not_pending"},
	} {
		g.Expect(code(row.principal, row.event)).To(gomega.Equal(row.code), "%s: %#v", row.principal, row.event)
	}
	a.until("ann", id, "succeeded")
	g.Expect(code("ann", &wire.AntiphonRunCancel{RunID: id})).To(gomega.Equal("run_ended"))

	id = a.begin("ann", `{"tool":"job","input":{"Ask":true}}`)
	a.until("ann", id, "waiting_user")
	g.Expect(code("ann", &wire.AntiphonRunCancel{RunID: id, Reason: "too late"})).To(gomega.BeEmpty())
	_, text := a.ask(http.MethodGet, "ann", "/v1/runs/"+id, "")
	g.Expect(text).To(gomega.And(gomega.ContainSubstring(`"status":"canceled"`), gomega.ContainSubstring("too late")))
}

// TestACallFollowsRuns: a session gets the messages of a run that another call has begun, or of all that have not ended.
func TestACallFollowsRuns(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	h := New(a.runs, slog.New(slog.DiscardHandler))
	waits := a.begin("ann", `{"tool":"job","input":{"Approval":true}}`)
	ended := a.begin("ann", `{"tool":"job"}`)
	other := a.begin("ben", `{"tool":"job","input":{"Approval":true}}`)
	a.until("ann", waits, "waiting_user")
	a.until("ann", ended, "succeeded")
	a.until("ben", other, "waiting_user")
	follow := func(id string) (first chan tool.News, code string) {
		first = make(chan tool.News, 99)
		ctx := tool.WithCaller(t.Context(), &tool.Caller{Principal: "ann", Tell: func(n tool.News) bool { first <- n; return true }})
		if refused := h.Act(ctx, "ann", &wire.AntiphonRunFollow{RunID: id}); refused != nil {
			code = refused.Code
		}
		return first, code
	}
	for id, want := range map[string]string{"": waits, waits: waits, ended: ended} {
		news, code := follow(id)
		g.Expect(code).To(gomega.BeEmpty())
		g.Expect((<-news).Run).To(gomega.Equal(want))
	}
	for _, id := range []string{other, "run_1"} {
		_, code := follow(id)
		g.Expect(code).To(gomega.Equal("run_not_found"))
	}
	g.Expect(h.Act(t.Context(), "ann", &wire.AntiphonRunFollow{}).Code).To(gomega.Equal("invalid_value"), "there is no session")
}
