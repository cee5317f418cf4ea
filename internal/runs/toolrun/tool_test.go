package toolrun

// A tool of the server as a run: what a language model and a session get, and what the user approves.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// booking is a tool whose output says with what it was called.
func booking() *pipeline.ServerTool {
	return &pipeline.ServerTool{Tool: pipeline.Tool{Name: "book"}, Run: func(_ context.Context, arguments string) (string, error) {
		if strings.Contains(arguments, "nowhere") {
			return "", errors.New("there is no such town")
		}
		return "booked " + arguments, nil
	}}
}

// withTool opens a Runner with one tool.
func withTool(t *testing.T, t1 *pipeline.ServerTool, b Background) *runs.Runner {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := store.Open(t.Context(), store.Config{Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r, err := runs.New(t.Context(), runs.Config{Store: s, Workers: []runs.Worker{Worker(t1, b)}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		if err := errors.Join(r.Close(context.Background()), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// told waits for news with a text for the model.
func told(t *testing.T, from <-chan tool.News) tool.News {
	t.Helper()
	for n := range from {
		if n.Text != "" {
			return n
		}
	}
	t.Fatal("the session was told nothing")
	return tool.News{}
}

func TestAModelBeginsARun(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		approve   bool
		ends      string
	}{
		"approved": {`{"to":"Oslo"}`, true, `"output":"booked {\"to\":\"Oslo\"}"`}, "refused": {`{"to":"Oslo"}`, false, codeNotApproved},
		"a failure": {`{"to":"nowhere"}`, true, "there is no such town"},
	} {
		t.Run(name, func(t *testing.T) {
			g, news := gomega.NewWithT(t), make(chan tool.News, 99)
			r := withTool(t, booking(), Background{Approval: true})
			caller := &tool.Caller{Principal: "ann", Tell: func(n tool.News) bool { news <- n; return true }}
			offer := Offer(r, booking().Tool, slog.New(slog.DiscardHandler))
			output, err := offer.Run(tool.WithCaller(t.Context(), caller), c.arguments)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			asked := told(t, news)
			g.Expect(output).To(gomega.HavePrefix("Started run " + asked.Run))
			g.Expect(asked.Text).To(gomega.ContainSubstring("needs the user"))
			var m runs.Message
			g.Expect(json.Unmarshal(asked.Message, &m)).To(gomega.Succeed())
			g.Expect([]string{m.RunID, m.Type, asked.Tool}).To(gomega.Equal([]string{asked.Run, runs.TypeRequested, "book"}))
			_, err = r.Reply(t.Context(), "ann", asked.Run, "ia_1", runs.Answer{Approved: c.approve})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(told(t, news).Text).To(gomega.ContainSubstring(c.ends))
		})
	}
}

// TestAQuestionReachesTheSession: the session learns what the run asks and what the choices are, and the model reads them.
func TestAQuestionReachesTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	m := runs.Message{Seq: 3, Type: runs.TypeRequested, Data: json.RawMessage(`{"interaction_id":"ia_1","kind":"question","prompt":"Where to?","choices":["Oslo","Rome"]}`)}
	n := news(&runs.Run{ID: "run_1", Tool: "book"}, tool.Progress{}, m, nil)
	g.Expect(*n.Asks).To(gomega.Equal(tool.Question{Interaction: "ia_1", Prompt: "Where to?", Choices: []string{"Oslo", "Rome"}}))
	g.Expect(n.Text).To(gomega.ContainSubstring(`"Where to?". The choices are ["Oslo" "Rome"].`))
}

// A call that ends, or was none of a session, harms no run.
func TestARunOutlivesItsCall(t *testing.T) {
	g, ended := gomega.NewWithT(t), make(chan struct{})
	r := withTool(t, booking(), Background{Approval: true})
	offer := Offer(r, booking().Tool, slog.New(slog.DiscardHandler))
	_, err := offer.Run(t.Context(), `{}`)
	g.Expect(err).To(gomega.HaveOccurred())
	_, err = offer.Run(tool.WithCaller(t.Context(), &tool.Caller{Principal: "ann", Tell: func(tool.News) bool { return false }, Ended: ended}), `{}`)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	close(ended)
	g.Eventually(func() (string, error) {
		page, _, err := r.List(t.Context(), "ann", "", 9)
		if err != nil || len(page) != 1 {
			return "", err
		}
		return page[0].Status, nil
	}, time.Minute, time.Millisecond).Should(gomega.Equal("waiting_user"))
	_, err = offer.Run(tool.WithCaller(t.Context(), &tool.Caller{Tell: func(tool.News) bool { return true }}), `no object`)
	g.Expect(err).To(gomega.MatchError(runs.ErrInvalid))
}

// Another call follows a run: it gets all messages from the first, and the model reads only the question that still waits, and what comes then.
func TestAnotherCallFollowsARun(t *testing.T) {
	g, news := gomega.NewWithT(t), make(chan tool.News, 99)
	r := withTool(t, booking(), Background{Approval: true})
	begun, err := r.Start(t.Context(), runs.Request{Principal: "ann", Tool: "book", Input: json.RawMessage(`{"to":"Oslo"}`)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var waits *runs.Run
	g.Eventually(func() (string, error) {
		waits, err = r.Get(t.Context(), "ann", begun.ID)
		return waits.Status, err
	}, time.Minute, time.Millisecond).Should(gomega.Equal("waiting_user"))
	caller := &tool.Caller{Principal: "ann", Tell: func(n tool.News) bool { news <- n; return true }}
	Follow(t.Context(), r, caller, waits, slog.New(slog.DiscardHandler))
	Follow(t.Context(), r, caller, waits, slog.New(slog.DiscardHandler)) // it is followed already
	asked := told(t, news)
	g.Expect(*asked.Asks).To(gomega.Equal(tool.Question{Interaction: "ia_1", Approval: true, Arguments: json.RawMessage(`{"to":"Oslo"}`)}))
	_, err = r.Reply(t.Context(), "ann", begun.ID, "ia_1", runs.Answer{Approved: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ended := told(t, news)
	g.Expect(ended.Settled).To(gomega.BeTrue())

	// A call that follows it now gets the whole timeline, each message once, and the model reads nothing.
	over, err := r.Get(t.Context(), "ann", begun.ID)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(func() (uint64, error) {
		over, err = r.Get(t.Context(), "ann", begun.ID)
		return over.Seq, err
	}, time.Minute, time.Millisecond).Should(gomega.BeNumerically(">", 5))
	late := make(chan tool.News, 99)
	Follow(t.Context(), r, &tool.Caller{Principal: "ann", Tell: func(n tool.News) bool { late <- n; return true }}, over, slog.New(slog.DiscardHandler))
	for seq := uint64(1); seq <= over.Seq; seq++ {
		n := <-late
		var m runs.Message
		g.Expect(json.Unmarshal(n.Message, &m)).To(gomega.Succeed())
		g.Expect(m.Seq).To(gomega.Equal(seq))
		g.Expect(n.Text).To(gomega.BeEmpty())
	}
}

// failing is a follower whose runs have two messages. Each time it tells the next one, and then fails with the next error.
type failing struct {
	errs  []error
	after []uint64 // with what it was called
}

// Follow implements follower.
func (f *failing) Follow(_ context.Context, _, _ string, after uint64, tell func(runs.Message) error, _ func() error) error {
	f.after = append(f.after, after)
	err := f.errs[0]
	f.errs = f.errs[1:]
	if after < 2 && !errors.Is(err, runs.ErrTooMany) {
		if err := tell(runs.Message{Seq: after + 1}); err != nil {
			return err
		}
	}
	return err
}

// A session hears of its runs again when the store is back: each message once.
func TestTheStoreIsAwayForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, logger := gomega.NewWithT(t), slog.New(slog.DiscardHandler)
		away := fmt.Errorf("%w: test", store.ErrUnavailable)
		f := &failing{errs: []error{away, runs.ErrTooMany, away, away, nil}}
		told := 0
		caller := &tool.Caller{Tell: func(tool.News) bool { told++; return true }}
		g.Expect(report(t.Context(), f, caller, &runs.Run{ID: "run_1"}, logger)).To(gomega.BeTrue())
		g.Expect(f.after).To(gomega.Equal([]uint64{0, 1, 1, 2, 2}))
		g.Expect(told).To(gomega.Equal(2))

		_, err := report(t.Context(), &failing{errs: []error{runs.ErrNotFound}}, caller, &runs.Run{}, logger)
		g.Expect(err).To(gomega.MatchError(runs.ErrNotFound))

		// The end of the session ends the wait.
		ended := make(chan struct{})
		time.AfterFunc(time.Hour, func() { close(ended) })
		caller = &tool.Caller{Ended: ended, Tell: func(tool.News) bool { return true }}
		g.Expect(report(t.Context(), &failing{errs: slices.Repeat([]error{away}, 1000)}, caller, &runs.Run{}, logger)).To(gomega.BeFalse())
	})
}

func TestALongOutput(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("\x00", 200<<10), strings.Repeat("é", 70<<10), "short\xff"} {
		out, err := outputText(text)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(len(out)).To(gomega.BeNumerically("<=", runs.MaxOutput))
		g.Expect(json.Valid(out)).To(gomega.BeTrue())
	}
}

// A session that goes on with a call gets the messages that the call does not know, once, and the model reads what came in between. A question that it
// knows and that waits is known to the session again.
func TestASessionGoesOnWithARun(t *testing.T) {
	g, end := gomega.NewWithT(t), make(chan struct{})
	r := withTool(t, booking(), Background{Approval: true})
	begun, err := r.Start(t.Context(), runs.Request{Principal: "ann", Tool: "book", Input: json.RawMessage(`{"to":"Oslo"}`)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	read := func() *runs.Run {
		one, err := r.Get(t.Context(), "ann", begun.ID)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return one
	}
	g.Eventually(func() string { return read().Status }, time.Minute, time.Millisecond).Should(gomega.Equal("waiting_user"))
	waits := read()
	goesOn := func(of *runs.Run) (<-chan tool.News, <-chan bool) {
		news, follows := make(chan tool.News, 99), make(chan bool, 9)
		caller := &tool.Caller{
			Principal: "ann", Tell: func(n tool.News) bool { news <- n; return true }, Ended: end, Following: func(_ string, on bool) { follows <- on },
			Knew: map[string]tool.Progress{begun.ID: {Told: waits.Seq, Read: waits.Seq}},
		}
		Follow(t.Context(), r, caller, of, slog.New(slog.DiscardHandler))
		return news, follows
	}
	first, _ := goesOn(waits)
	again := <-first
	g.Expect([]any{again.Read, again.Message == nil, again.Asks.Interaction}).To(gomega.Equal([]any{true, true, "ia_1"}))
	close(end)

	_, err = r.Reply(t.Context(), "ann", begun.ID, "ia_1", runs.Answer{Approved: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(func() string { return read().Status }, time.Minute, time.Millisecond).Should(gomega.Equal("succeeded"))
	end = make(chan struct{})
	defer func() { close(end) }()
	over := read()
	news, follows := goesOn(over)
	g.Expect(<-follows).To(gomega.BeTrue())
	g.Expect(<-follows).To(gomega.BeFalse(), "there are no more news")
	var texts []string
	for seq := waits.Seq + 1; seq <= over.Seq; seq++ {
		n := <-news
		g.Expect([]any{n.Seq, n.Message == nil, n.Read}).To(gomega.Equal([]any{seq, false, false}))
		if n.Text != "" {
			texts = append(texts, n.Text)
		}
	}
	g.Expect(news).To(gomega.BeEmpty())
	g.Expect(texts).To(gomega.HaveExactElements(gomega.ContainSubstring("has ended")))
}
