package console

// What the console keeps and shows, who may read it, and its limits.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/wire"
)

const operatorsKey = "key-of-the-night-desk"

func keysOf(g *gomega.WithT, keys ...string) apikey.Keys {
	read, err := apikey.Read(strings.NewReader(strings.Join(keys, "\n")))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return read
}

// begin returns a console that ends with the test, and what it shows now.
func begin(t *testing.T, words bool) (g *gomega.WithT, c *Console, shows func(open string) *Update) {
	t.Helper()
	g = gomega.NewWithT(t)
	c = New(Config{Keys: keysOf(g, operatorsKey), Words: words, Node: "harbour"})
	t.Cleanup(func() { g.Expect(c.Close(context.Background())).To(gomega.Succeed()) })
	return g, c, func(open string) *Update {
		synctest.Wait() // all notes are taken
		return c.next(&reader{open: open})
	}
}

func said(session string, c *Console, events ...wire.ServerEvent) {
	for _, e := range events {
		c.Event(session, "server", wire.AppendServer(nil, e))
	}
}

func conversation(c *Console, session string) {
	said(
		session, c,
		&wire.ConversationItemAdded{Item: wire.Item{ID: "item_1", Type: wire.ItemMessage, Role: "user"}},
		&wire.ResponseOutputAudioTranscriptDone{ItemID: "item_2", Transcript: "one two three four five six"},
		&wire.AntiphonResponsePiece{ItemID: "item_2", Characters: 13, AudioEndMS: 1000},
		&wire.AntiphonResponsePiece{ItemID: "item_2", FirstCharacter: 13, Characters: 14, AudioStartMS: 1000, AudioEndMS: 2000},
		&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: "item_1", Transcript: "count to six"},
		&wire.ConversationItemTruncated{ItemID: "item_2", AudioEndMS: 1500},
		&wire.ErrorEvent{Error: wire.Error{Code: "invalid_value", Message: "not a voice: secret"}},
		&wire.ConversationItemAdded{Item: wire.Item{ID: "item_3", Type: wire.ItemMessage, Role: "user"}},
		&wire.ConversationItemDeleted{ItemID: "item_3"},
	)
}

func TestACallFromItsBeginningToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, shows := begin(t, true)
		c.Begins("rtc_1", "sess_1", "kitchen", "WebRTC", time.Now())
		c.Step("sess_1", coord.Step{Machine: "conn", From: conn.Connecting{}, Event: conn.Opened{}, To: conn.Live{}, Action: "Open"})
		c.Step("sess_1.turnend", coord.Step{Machine: "turn", From: turn.Idle{}, Event: turn.Commit{}, To: turn.Idle{}, Why: "ignored"})
		c.Timed("sess_1", &wire.AntiphonTurnMetrics{CommitMS: 300, TranscriptMS: 350, FirstTokenMS: 400, FirstAudioMS: 450, FirstPacketMS: 470, PlaybackEndMS: 2000}, time.Now())
		conversation(c, "sess_1")
		u := shows("sess_1")
		g.Expect(u.Order).To(gomega.Equal([]string{"sess_1"}))
		g.Expect(u.Calls).To(gomega.HaveLen(1))
		g.Expect(u.Calls[0]).To(gomega.And(gomega.HaveField("Key", "kitchen"), gomega.HaveField("Ended", gomega.BeNil()), gomega.HaveField("Latency", 470), gomega.HaveField("Failed", 1)))
		g.Expect(u.Calls[0].Machines).To(gomega.ConsistOf(gomega.And(gomega.HaveField("Name", "conn"), gomega.HaveField("State", "Live"))))
		g.Expect(u.Open.Steps).To(gomega.HaveLen(1), "what a machine ignores is no step")
		g.Expect(u.Open.Lines).To(gomega.HaveExactElements(
			gomega.And(gomega.HaveField("Who", "user"), gomega.HaveField("Text", "count to six")),
			gomega.And(gomega.HaveField("Who", "agent"), gomega.HaveField("Text", "one two three four"), gomega.HaveField("Cut", true)),
		))
		g.Expect(u.Open.Errors).To(gomega.HaveExactElements(gomega.HaveField("Message", "not a voice: secret")))

		c.Step("sess_1", coord.Step{Machine: "conn", From: conn.Live{}, Event: conn.Close{}, To: conn.Closing{}, Action: "Close", Effects: []coord.Effect{conn.StopChildren{Reason: conn.TimeLimit}}})
		c.Ends("sess_1")
		c.Step("sess_unknown", coord.Step{Machine: "conn", From: conn.Live{}, Event: conn.Close{}, To: conn.Closing{}})
		u = shows("")
		g.Expect(u.Calls[0].Ended).NotTo(gomega.BeNil())
		g.Expect(u.Calls[0].Reason).To(gomega.Equal("TimeLimit"))
		g.Expect(u.Open).To(gomega.BeNil())
	})
}

func TestWithoutWordsNoneAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, shows := begin(t, false)
		c.Begins("rtc_1", "sess_1", "", "WebRTC", time.Now())
		conversation(c, "sess_1")
		u := shows("sess_1")
		g.Expect(u.Open.Lines).To(gomega.BeEmpty())
		g.Expect(u.Open.Errors).To(gomega.HaveExactElements(gomega.And(gomega.HaveField("Code", "invalid_value"), gomega.HaveField("Message", ""))))
	})
}

// A reader gets what has changed since the last time, and each step once.
func TestAReaderGetsWhatHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, _ := begin(t, false)
		step := func(session string) {
			c.Step(session, coord.Step{Machine: "turn", From: turn.Idle{}, Event: turn.Onset{}, To: turn.Speaking{}, Action: "OpenTurn"})
			synctest.Wait()
		}
		for _, session := range []string{"sess_1", "sess_2"} {
			c.Begins("rtc_"+session, session, "", "WebRTC", time.Now())
			step(session)
		}
		r := &reader{open: "sess_1"}
		g.Expect(c.next(r).Calls).To(gomega.HaveLen(2))
		g.Expect(c.next(r)).To(gomega.BeNil())
		step("sess_1")
		u := c.next(r)
		g.Expect(u.Order).To(gomega.BeNil())
		g.Expect(u.Calls).To(gomega.HaveExactElements(gomega.HaveField("Session", "sess_1")))
		g.Expect(u.Open.Steps).To(gomega.HaveExactElements(gomega.HaveField("N", 2)))
		for range 2 * maxSteps {
			step("sess_1")
		}
		g.Expect(c.next(r).Open.Steps).To(gomega.HaveLen(maxSteps))
	})
}

// A session does not wait for the console: notes for which there is no room are dropped and counted.
func TestASessionNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, shows := begin(t, true)
		c.Begins("rtc_1", "sess_1", "", "WebRTC", time.Now())
		synctest.Wait()
		c.mu.Lock() // as if a reader never gave it back
		long := strings.Repeat("word ", 1000)
		for range 2 * maxNotes {
			said("sess_1", c, &wire.ResponseOutputTextDone{ItemID: "item_1", Text: long})
		}
		g.Expect(c.waiting.Load()).To(gomega.BeNumerically("<=", maxWaiting))
		for range 2 * maxNotes {
			c.Timed("sess_1", &wire.AntiphonTurnMetrics{}, time.Now())
		}
		c.mu.Unlock()
		u := shows("sess_1")
		g.Expect(u.Server.Dropped).To(gomega.BeNumerically(">=", 2*maxNotes))
		g.Expect(len(u.Open.Lines[0].Text)).To(gomega.BeNumerically("<=", maxText))
		g.Expect(c.waiting.Load()).To(gomega.BeZero())
	})
}

// A principal with many calls pushes no call of another one out of the book.
func TestTheBookHasLimits(t *testing.T) {
	g := gomega.NewWithT(t)
	b := book{calls: map[string]*call{}}
	now := time.Now()
	call := func(session, key string) {
		b.begin(Call{Session: session, Key: key, Since: now})
		now = now.Add(time.Second)
		b.end(session, now)
	}
	call("sess_quiet", "quiet")
	for n := range 3 * maxEnded {
		call(fmt.Sprint("sess_", n), "busy")
	}
	g.Expect(b.calls).To(gomega.HaveLen(maxEnded))
	g.Expect(b.calls).To(gomega.And(gomega.HaveKey("sess_quiet"), gomega.HaveKey(fmt.Sprint("sess_", 3*maxEnded-1))))
	g.Expect(b.calls).NotTo(gomega.HaveKey("sess_0"))

	for n := range 40 {
		session := fmt.Sprint("sess_live_", n)
		b.begin(Call{Session: session, Key: "loud", Since: now})
		for i := range maxLines {
			b.line(session, fmt.Sprint("item_", i), "user").Text = strings.Repeat("x", maxText)
		}
		b.shrink()
	}
	all := 0
	for _, c := range b.calls {
		all += c.size()
	}
	g.Expect(all).To(gomega.BeNumerically("<=", maxBytes))
	g.Expect(b.calls).To(gomega.HaveLen(maxEnded+40), "no call of another principal made room, and no call that there is was forgotten")
}

func TestAccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c, _ := begin(t, false)
		h := c.Handler()
		get := func(ctx context.Context, path string, header ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, Path+path, nil)
			if len(header) > 0 {
				r.Header.Set(header[0], header[1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		for name, header := range map[string][]string{
			"no key": nil, "another key": {"Authorization", "Bearer key-of-somebody-else"}, "a cookie": {"Cookie", "antiphon-operator-key=" + operatorsKey},
			"another scheme": {"Authorization", "Basic " + operatorsKey}, "a subprotocol": {"Sec-WebSocket-Protocol", "openai-insecure-api-key." + operatorsKey},
		} {
			for _, path := range []string{"calls", "events", "machines", "nothing"} {
				g.Expect(get(t.Context(), path, header...).Code).To(gomega.Equal(http.StatusUnauthorized), name)
			}
		}
		bearer := []string{"Authorization", "Bearer " + operatorsKey}
		g.Expect(get(t.Context(), "calls", bearer...).Body.String()).To(gomega.ContainSubstring(`"node":"harbour"`))
		g.Expect(get(t.Context(), "nothing", bearer...).Code).To(gomega.Equal(http.StatusNotFound))
		var tables map[string]diagram
		g.Expect(json.Unmarshal(get(t.Context(), "machines", bearer...).Body.Bytes(), &tables)).To(gomega.Succeed())
		g.Expect(tables["turn"].States).To(gomega.Equal([]string{"Idle", "Candidate", "Speaking", "Confirming"}))

		// A key has a limited number of streams. They end when their client is gone, and when their key is.
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan int, maxReaders)
		for n := range maxReaders {
			own := t.Context()
			if n == 0 {
				own = ctx
			}
			go func() { ended <- get(own, "events", bearer...).Code }()
		}
		synctest.Wait()
		g.Expect(get(t.Context(), "events", bearer...).Code).To(gomega.Equal(http.StatusTooManyRequests))
		leave()
		g.Expect(<-ended).To(gomega.Equal(http.StatusOK))
		c.SetKeys(keysOf(g, "another-key-of-the-desk"))
		for range maxReaders - 1 {
			g.Expect(<-ended).To(gomega.Equal(http.StatusOK))
		}
		g.Expect(c.readers).To(gomega.BeEmpty())
		g.Expect(get(t.Context(), "calls", bearer...).Code).To(gomega.Equal(http.StatusUnauthorized))
	})
}

// A stream has the calls, then each change, and now and then a sign of life.
func TestTheStream(t *testing.T) {
	g, c, _ := begin(t, false)
	s := httptest.NewServer(c.Handler())
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+Path+"events?open=sess_1", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+operatorsKey)
	answer, err := http.DefaultClient.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = answer.Body.Close() }() // the test is over
	g.Expect(answer.Header.Get("Content-Type")).To(gomega.Equal("text/event-stream"))
	lines := bufio.NewScanner(answer.Body)
	next := func() (u Update) {
		for lines.Scan() {
			if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
				g.Expect(json.Unmarshal([]byte(text), &u)).To(gomega.Succeed())
				return u
			}
		}
		return u
	}
	g.Expect(next().Calls).To(gomega.BeEmpty())
	c.Begins("rtc_1", "sess_1", "kitchen", "WebSocket", time.Now())
	u := next()
	g.Expect(u.Order).To(gomega.Equal([]string{"sess_1"}))
	g.Expect(u.Open.Session).To(gomega.Equal("sess_1"))
	g.Expect(c.Close(t.Context())).To(gomega.Succeed())
	for lines.Scan() {
		g.Expect(lines.Text()).To(gomega.BeEmpty())
	}
	g.Expect(lines.Err()).NotTo(gomega.HaveOccurred(), "the stream ends with the console")
}
