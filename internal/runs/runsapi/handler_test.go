package runsapi

// The HTTP API: what clients send and get, whose runs they see, and the limits.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// api is a server of the HTTP API. The principal of a request is its header Principal.
type api struct {
	t    *testing.T
	url  string
	runs *runs.Runner
}

func serve(t *testing.T, cfg runs.Config) *api {
	t.Helper()
	g := gomega.NewWithT(t)
	var err error
	cfg.Store, err = store.Open(t.Context(), store.Config{Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cfg.Workers = []runs.Worker{{Tool: "guarded", Approval: true, Work: work}, {Tool: "job", Work: work}}
	r, err := runs.New(t.Context(), cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h := New(r, slog.New(slog.DiscardHandler))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, r.Header.Get("Principal")) }))
	t.Cleanup(func() {
		r.EndStreams()
		s.Close()
		if err := errors.Join(r.Close(context.Background()), cfg.Store.Close()); err != nil {
			t.Error(err)
		}
	})
	return &api{t, s.URL, r}
}

// work is the worker of the tests: a step, then a question or an approval if the input asks for one, then another step.
func work(ctx context.Context, t *runs.Turn) (json.RawMessage, error) {
	var asks struct {
		Ask, Approval bool
		Choices       []string
	}
	_ = json.Unmarshal(t.Input(), &asks) // null asks for nothing
	one := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
	if _, err := t.Step(ctx, "one", false, one); err != nil {
		return nil, err
	}
	if asks.Ask || asks.Approval {
		if _, err := t.Ask(ctx, "go", runs.Question{Prompt: "Go on?", Approval: asks.Approval, Choices: asks.Choices}); err != nil {
			return nil, err
		}
	}
	if err := t.Progress(ctx, "half"); err != nil {
		return nil, err
	}
	_, err := t.Step(ctx, "two", true, one)
	return json.RawMessage(`"done"`), err
}

// ask sends a request of a principal, and returns the status and the body.
func (a *api) ask(method, principal, path, body string) (int, string) {
	a.t.Helper()
	g := gomega.NewWithT(a.t)
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, strings.NewReader(body))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Principal", principal)
	response, err := http.DefaultClient.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return response.StatusCode, string(text)
}

// begin begins a run and returns its id.
func (a *api) begin(principal, body string) string {
	a.t.Helper()
	status, text := a.ask(http.MethodPost, principal, "/v1/runs", body)
	g := gomega.NewWithT(a.t)
	g.Expect(status).To(gomega.Equal(http.StatusCreated), text)
	var r runs.Run
	g.Expect(json.Unmarshal([]byte(text), &r)).To(gomega.Succeed())
	g.Expect(r.Status).To(gomega.Equal("queued"))
	return r.ID
}

// until waits until a run has a status.
func (a *api) until(principal, id, status string) (r runs.Run) {
	a.t.Helper()
	gomega.NewWithT(a.t).Eventually(func() (string, error) {
		_, text := a.ask(http.MethodGet, principal, "/v1/runs/"+id, "")
		err := json.Unmarshal([]byte(text), &r)
		return r.Status, err
	}, time.Minute, time.Millisecond).Should(gomega.Equal(status))
	return r
}

func TestARunOverHTTP(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	id := a.begin("ann", `{"tool":"job","input":{"Approval":true}}`)
	waits := a.until("ann", id, "waiting_user")
	g.Expect(waits.Pending.Kind).To(gomega.Equal("approval"))

	for body, says := range map[string]string{
		`{}`: "interaction_id is missing", `{"interaction_id":"ia_1"}`: "send approve", `{"interaction_id":"ia_1","reply":1}`: "send approve with true or false",
		`{"interaction_id":"ia_1","approve":"yes"}`: "approve: want a boolean, got a string", `[]`: "want a JSON object",
	} {
		status, text := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", body)
		g.Expect(status).To(gomega.Equal(http.StatusBadRequest), text)
		g.Expect(text).To(gomega.ContainSubstring(says))
	}
	status, text := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_2","approve":true}`)
	g.Expect(status).To(gomega.Equal(http.StatusConflict), text)
	status, text = a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_1","approve":true}`)
	g.Expect(status).To(gomega.Equal(http.StatusOK), text)
	status, text = a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_1","approve":false}`)
	g.Expect(status).To(gomega.Equal(http.StatusConflict), text)
	g.Expect(text).To(gomega.ContainSubstring("ia_1 was answered already"))
	done := a.until("ann", id, "succeeded")
	g.Expect(string(done.Result.Output)).To(gomega.Equal(`"done"`))
	g.Expect(done.Pending).To(gomega.BeNil())
	status, text = a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/cancel", "")
	g.Expect(status).To(gomega.Equal(http.StatusConflict), text)
	g.Expect(text).To(gomega.ContainSubstring("run_ended"))
	var types []string
	g.Expect(a.runs.Follow(t.Context(), "ann", id, 0, func(m runs.Message) error { types = append(types, m.Type); return nil }, nil)).To(gomega.Succeed())
	g.Expect(types).To(gomega.Equal([]string{
		"conversation.state.changed", "run.step.completed", "interaction.requested", "conversation.state.changed",
		"interaction.reply.accepted", "conversation.state.changed", "conversation.state.changed", "run.progress", "run.step.completed", "run.result",
		"conversation.state.changed",
	}))
}

func TestRunsOfSomebodyElse(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	id := a.begin("ann", `{"tool":"job","input":{"Ask":true}}`)
	a.until("ann", id, "waiting_user")
	for path, method := range map[string]string{"": http.MethodGet, "/events": http.MethodGet, "/cancel": http.MethodPost, "/reply": http.MethodPost} {
		for _, other := range []string{"bob", "", "an"} {
			status, text := a.ask(method, other, "/v1/runs/"+id+path, `{"interaction_id":"ia_1","reply":"yes"}`)
			g.Expect(status).To(gomega.Equal(http.StatusNotFound), text)
			g.Expect(text).To(gomega.ContainSubstring("run_not_found"))
		}
	}
	for _, wrong := range []string{"run_", "x", "run_*", strings.Replace(id, "run_", "job_", 1), id + ".x"} {
		status, text := a.ask(http.MethodGet, "ann", "/v1/runs/"+wrong, "")
		g.Expect(status).To(gomega.Equal(http.StatusNotFound), text)
	}
	_, text := a.ask(http.MethodGet, "bob", "/v1/runs", "")
	g.Expect(text).To(gomega.ContainSubstring(`"data":[]`))
	status, _ := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/cancel", `{"reason":"no more"}`)
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	g.Expect(a.until("ann", id, "canceled").Result.Message).To(gomega.Equal("no more"))
}

func TestPagesOfRuns(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	var want, got []string
	for range 5 {
		want = append([]string{a.begin("ann", `{"tool":"job","input":{}}`)}, want...)
		begun := time.Now() // the order of runs of the same millisecond is not said
		g.Eventually(func() bool { return time.Since(begun) > 2*time.Millisecond }, time.Minute, time.Millisecond).Should(gomega.BeTrue())
	}
	after := ""
	for range 3 {
		var page struct {
			Data   []runs.Run
			LastID string `json:"last_id"`
			More   bool   `json:"has_more"`
		}
		_, text := a.ask(http.MethodGet, "ann", "/v1/runs?limit=2&after="+after, "")
		g.Expect(json.Unmarshal([]byte(text), &page)).To(gomega.Succeed())
		for _, r := range page.Data {
			got = append(got, r.ID)
		}
		g.Expect(page.More).To(gomega.Equal(len(got) < 5))
		after = page.LastID
	}
	g.Expect(got).To(gomega.Equal(want))
	for _, wrong := range []string{"limit=0", "limit=101", "limit=x", "after=x"} {
		status, text := a.ask(http.MethodGet, "ann", "/v1/runs?"+wrong, "")
		g.Expect(status).To(gomega.Equal(http.StatusBadRequest), text)
	}
}

func TestRequestsThatAreWrong(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	for body, says := range map[string]string{
		`{"tool":1}`: `tool: want a string, got a number","param":"tool"`, `{"tool":"job","reply_timeout":"5 s"}`: "reply_timeout: want a number, got a string",
		`{`: "want a JSON object", `{"tool":"other"}`: `there is no background tool \"other\": there is guarded, job`,
		`{"tool":"job","policy":"always"}`: "want require_reply, auto_decide or auto", `{"tool":"guarded","policy":"auto"}`: "needs an approval",
		`{"tool":"job","reply_timeout":5}`:                             "reply_timeout",
		`{"tool":"job","input":"` + strings.Repeat("x", 65<<10) + `"}`: "input: it has",
		strings.Repeat(" ", 80<<10):                                    "the body has more than",
	} {
		status, text := a.ask(http.MethodPost, "ann", "/v1/runs", body)
		g.Expect(status).To(gomega.Equal(http.StatusBadRequest), text)
		g.Expect(text).To(gomega.ContainSubstring(says))
	}
	status, text := a.ask(http.MethodGet, "ann", "/v1/runs/contract", "")
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	g.Expect(text).To(gomega.Equal(string(runs.Contract())))
}

func TestLimitsOfPrincipals(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{MaxKept: 12, MaxOpen: 100})
	for range 10 { // a tenth of MaxOpen
		a.until("ann", a.begin("ann", `{"tool":"job","input":{"Ask":true}}`), "waiting_user")
	}
	status, text := a.ask(http.MethodPost, "ann", "/v1/runs", `{"tool":"job"}`)
	g.Expect(status).To(gomega.Equal(http.StatusTooManyRequests), text)
	g.Expect(text).To(gomega.ContainSubstring("one principal may have 10 open runs"))
	first := a.begin("bob", `{"tool":"job","input":{}}`)
	a.until("bob", first, "succeeded")
	for range 12 {
		a.until("bob", a.begin("bob", `{"tool":"job","input":{}}`), "succeeded")
	}
	status, text = a.ask(http.MethodGet, "bob", "/v1/runs/"+first, "")
	g.Expect(status).To(gomega.Equal(http.StatusNotFound), text)
}

// stream reads a stream of events until it has n messages.
func (a *api) stream(ctx context.Context, id, last string, n int) (status int, ids []string) {
	a.t.Helper()
	g := gomega.NewWithT(a.t)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/v1/runs/"+id+"/events", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Principal", "ann")
	r.Header.Set("Last-Event-ID", last)
	response, err := http.DefaultClient.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for len(ids) < n && lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "id: "); is {
			ids = append(ids, text)
		}
	}
	return response.StatusCode, ids
}

func TestAStreamOfEvents(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	id := a.begin("ann", `{"tool":"job","input":{"Approval":true}}`)
	_, ids := a.stream(t.Context(), id, "", 4) // what is there and what comes
	g.Expect(ids).To(gomega.Equal([]string{"1", "2", "3", "4"}))
	_, text := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_1","approve":true}`)
	g.Expect(text).To(gomega.ContainSubstring(`"status":"queued"`))
	_, ids = a.stream(t.Context(), id, "4", 99) // it ends with the run
	g.Expect(ids).To(gomega.Equal([]string{"5", "6", "7", "8", "9", "10", "11"}))
	status, ids := a.stream(t.Context(), id, "11", 99)
	g.Expect(status).To(gomega.Equal(http.StatusNoContent))
	g.Expect(ids).To(gomega.BeEmpty())
	status, _ = a.stream(t.Context(), id, "x", 99)
	g.Expect(status).To(gomega.Equal(http.StatusBadRequest))
}

// TestAReplyIsOneOfTheChoices: the question has its choices, the server takes no other reply, and the messages have the reply.
func TestAReplyIsOneOfTheChoices(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{})
	id := a.begin("ann", `{"tool":"job","input":{"Ask":true,"Choices":["Oslo","Rome"]}}`)
	waits := a.until("ann", id, "waiting_user")
	g.Expect(waits.Pending.Choices).To(gomega.Equal([]string{"Oslo", "Rome"}))
	for _, reply := range []string{`"Bergen"`, `"oslo"`, `1`, `["Oslo"]`} {
		status, text := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_1","reply":`+reply+`}`)
		g.Expect(status).To(gomega.Equal(http.StatusBadRequest))
		g.Expect(text).To(gomega.ContainSubstring(`want one of the choices`))
	}
	status, text := a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", `{"interaction_id":"ia_1","reply":"Rome"}`)
	g.Expect(status).To(gomega.Equal(http.StatusOK), text)
	a.until("ann", id, "succeeded")
	said := map[string]string{}
	g.Expect(a.runs.Follow(t.Context(), "ann", id, 0, func(m runs.Message) error {
		said[m.Type] = string(m.Data)
		return nil
	}, nil)).To(gomega.Succeed())
	g.Expect(said["interaction.requested"]).To(gomega.MatchJSON(`{"interaction_id":"ia_1","kind":"question","prompt":"Go on?","choices":["Oslo","Rome"]}`))
	g.Expect(said["interaction.replied"]).To(gomega.MatchJSON(`{"interaction_id":"ia_1","reply":"Rome"}`))

	for _, choices := range []string{`["Oslo","Oslo"]`, `["Oslo",""]`, `["` + strings.Repeat("x", 101) + `"]`, `["1"` + strings.Repeat(`,"x"`, 20) + `]`} {
		id := a.begin("ann", `{"tool":"job","input":{"Ask":true,"Choices":`+choices+`}}`)
		g.Expect(a.until("ann", id, "failed").Result.Message).To(gomega.ContainSubstring("the question go: "))
	}
	id = a.begin("ann", `{"tool":"job","input":{"Approval":true,"Choices":["yes"]}}`)
	g.Expect(a.until("ann", id, "failed").Result.Message).To(gomega.ContainSubstring("none of an approval"))
}

func TestManyStreams(t *testing.T) {
	g, a := gomega.NewWithT(t), serve(t, runs.Config{MaxWatchers: 8})
	id := a.begin("ann", `{"tool":"job","input":{"Ask":true}}`)
	a.until("ann", id, "waiting_user")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	begun := make(chan struct{})
	for range 2 {
		go func() {
			_ = a.runs.Follow(ctx, "ann", id, 99, nil, func() error { begun <- struct{}{}; return nil })
		}()
		<-begun
	}
	status, text := a.ask(http.MethodGet, "ann", "/v1/runs/"+id+"/events", "")
	g.Expect(status).To(gomega.Equal(http.StatusTooManyRequests), text)
	status, text = a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/reply", fmt.Sprintf(`{"interaction_id":"ia_1","reply":"%s"}`, strings.Repeat("x", 17<<10)))
	g.Expect(status).To(gomega.Equal(http.StatusBadRequest), text)
	end()
	_, text = a.ask(http.MethodPost, "ann", "/v1/runs/"+id+"/cancel", "")
	g.Expect(text).To(gomega.ContainSubstring("canceled"))
	g.Eventually(func() int {
		status, _ := a.ask(http.MethodGet, "ann", "/v1/runs/"+id+"/events", "")
		return status
	}, time.Minute, time.Millisecond).Should(gomega.Equal(http.StatusOK), "the streams before have ended")
}
