package httpapi

// Another process goes on with a call: at whichever write the owner ends, nothing that the client was told is lost, and nothing comes twice.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/wire"
)

// process returns a server that journals its calls through view.
func process(t *testing.T, view *journaltest.View) (d *harness, address string) {
	t.Helper()
	d = open(t, func(c *Config) { c.Keys, c.Journal = keys(t), journal.New(journal.Config{Log: view}) })
	return d, d.serve() + "/v1/realtime"
}

// survivor is a client that reconnects, as the SDK does.
type survivor struct {
	*harness
	all    bool // it sends again everything that it has ever sent, which the SDK does not
	ws     *websocket.Conn
	token  string
	after  string // the id of the last event
	sent   []string
	tries  int
	ids    map[string]bool
	events []wire.ServerEvent
}

// dials connects to a server, anew or again. It sends again what the server has not accepted.
func (s *survivor) dials(address string) {
	s.t.Helper()
	if s.token != "" {
		address += "?antiphon_resume=" + s.token + "&antiphon_resume_after=" + s.after
	}
	p := s.connect(address, key)
	s.ws = p.ws
	if s.token == "" {
		s.token = p.token()
		return
	}
	p.first() // the acknowledgement for a page
	seen := p.answer.Header.Get("Antiphon-Resume-Seen")
	if s.all {
		seen = ""
	}
	from := 1 + slices.IndexFunc(s.sent, func(text string) bool { return strings.HasPrefix(text, `{"event_id":"`+seen+`",`) })
	for _, text := range s.sent[from:] {
		_ = s.ws.Write(s.t.Context(), websocket.MessageText, []byte(text)) // the connection may break: the events are sent again
	}
}

// does sends an event with that id.
func (s *survivor) does(id, text string) {
	s.t.Helper()
	text = fmt.Sprintf(`{"event_id":%q,%s}`, id, text)
	s.sent = append(s.sent, text)
	_ = s.ws.Write(s.t.Context(), websocket.MessageText, []byte(text))
}

// until reads events until one of them is right. again is called when the connection breaks.
func (s *survivor) until(right func(wire.ServerEvent) bool, again func()) {
	s.t.Helper()
	for !slices.ContainsFunc(s.events, right) {
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		_, text, err := s.ws.Read(ctx)
		cancel()
		if err != nil {
			s.tries++
			s.g.Expect(s.tries).To(gomega.BeNumerically("<=", 1), "one process ends: %v", err)
			again()
			continue
		}
		e, err := wire.DecodeServer(text)
		s.g.Expect(err).NotTo(gomega.HaveOccurred(), string(text))
		s.g.Expect(s.ids).NotTo(gomega.HaveKey(e.ID()), "an event comes once: %s", text)
		s.ids[e.ID()], s.after = true, e.ID()
		s.events = append(s.events, e)
	}
}

// count returns how many events are right.
func (s *survivor) count(right func(wire.ServerEvent) bool) (n int) {
	for _, e := range s.events {
		if right(e) {
			n++
		}
	}
	return n
}

func added(item string) func(wire.ServerEvent) bool {
	return func(e wire.ServerEvent) bool {
		a, is := e.(*wire.ConversationItemAdded)
		return is && a.Item.ID == item
	}
}

func ofType(name string) func(wire.ServerEvent) bool {
	return func(e wire.ServerEvent) bool { return e.Type() == name }
}

// answered returns a condition on the responses: n of them have been completed.
func (s *survivor) answered(n int) func(wire.ServerEvent) bool {
	return func(wire.ServerEvent) bool {
		return s.count(func(e wire.ServerEvent) bool {
			done, is := e.(*wire.ResponseDone)
			return is && done.Response.Status == "completed"
		}) >= n
	}
}

// errDead is the error of a store for a process that has ended.
var errDead = errors.New("the process has ended")

// TestTheOwnerEndsAtEachWrite ends the owner of a call before and after each write of a conversation.
func TestTheOwnerEndsAtEachWrite(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			for n := 1; n <= 14; n++ {
				if n == 1 && !after {
					continue // the client does not know yet that the call can be continued
				}
				t.Run(fmt.Sprintf("write %d, after it: %v, everything again: %v", n, after, all), func(t *testing.T) {
					t.Parallel()
					endAtWrite(t, n, after, all)
				})
			}
		}
	}
}

func endAtWrite(t *testing.T, n int, after, all bool) {
	var log journaltest.Log
	first := &journaltest.View{Log: &log}
	s := &survivor{ids: map[string]bool{}, all: all}
	var dead atomic.Bool
	end := func(at int) error {
		if at == n && dead.CompareAndSwap(false, true) {
			_ = s.ws.CloseNow() // before anything else of the process happens
		}
		if dead.Load() {
			return errDead
		}
		return nil
	}
	if first.Before = end; after {
		first.Before = func(at int) error {
			if at > n || dead.Load() {
				return errDead
			}
			return nil
		}
		first.After = end
	}
	d, one := process(t, first)
	_, two := process(t, &journaltest.View{Log: &log})
	s.harness = d
	s.dials(one)
	again := func() { s.dials(two) }
	s.until(ofType("session.created"), again)
	s.does("hello", `"type":"antiphon.hello"`)
	s.until(ofType("antiphon.ack"), again)
	s.does("text", `"type":"session.update","session":{"type":"realtime","output_modalities":["text"],"instructions":"Be kind."}`)
	s.does("one", `"type":"conversation.item.create","item":{"id":"item_one","type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}`)
	s.does("ask", `"type":"response.create"`)
	s.until(added("item_one"), again)
	s.until(s.answered(1), again)
	s.does("two", `"type":"conversation.item.create","item":{"id":"item_two","type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}`)
	s.does("drop", `"type":"conversation.item.delete","item_id":"item_one"`)
	s.until(ofType("conversation.item.deleted"), again)
	s.does("ask again", `"type":"response.create"`)
	s.until(s.answered(2), again)
	s.does("look", `"type":"conversation.item.retrieve","item_id":"item_two"`)
	s.until(ofType("conversation.item.retrieved"), again)
	s.does("gone", `"type":"conversation.item.retrieve","item_id":"item_one"`)
	s.until(ofType("error"), again)

	once := []string{"session.created", "session.updated", "conversation.item.deleted"}
	if !all { // an item that is retrieved again is answered again
		once = append(once, "error")
	}
	for _, name := range once {
		s.g.Expect(s.count(ofType(name))).To(gomega.Equal(1), name)
	}
	for _, item := range []string{"item_one", "item_two"} {
		s.g.Expect(s.count(added(item))).To(gomega.Equal(1), item)
	}
	s.g.Expect(s.count(ofType("response.created"))).To(gomega.Equal(s.count(ofType("response.done"))), "every response ends")
	s.g.Expect(s.answered(3)(nil)).To(gomega.BeFalse(), "every request for a response is answered once")
	s.g.Expect(s.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
	if s.tries > 0 {
		s.g.Eventually(log.Len, patience).Should(gomega.BeZero(), "a call that has ended in order leaves nothing")
	}
}

// blindLog is a log that cannot be read while it is blind.
type blindLog struct {
	*journaltest.View
	blind atomic.Bool
}

// Last implements journal.Log.
func (l *blindLog) Last(ctx context.Context, list string) ([]byte, uint64, error) {
	if l.blind.Load() {
		return nil, 0, errDead
	}
	return l.View.Last(ctx, list)
}

// A process that cannot ask the store does not know whether another one has the call. It refuses no client for good whose last event it does not know.
func TestAnOwnerThatCannotAskTheStore(t *testing.T) {
	t.Parallel()
	log := &blindLog{View: &journaltest.View{Log: &journaltest.Log{}}}
	d := open(t, func(c *Config) { c.Keys, c.Journal = keys(t), journal.New(journal.Config{Log: log}) })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, key)
	log.blind.Store(true)
	d.connectRefused(p.reconnectURL(address, "event_of_another-2-9"), key, http.StatusServiceUnavailable, "store_unavailable")
	log.blind.Store(false)
	d.connectRefused(p.reconnectURL(address, "event_of_another-2-9"), key, http.StatusGone, "resume_lost")
	d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
}

// sharedSecrets is a SecretBucket of several servers, whose clock is now.
type sharedSecrets struct {
	mu     sync.Mutex
	values map[string][]byte
	ahead  time.Duration // of the real clock
	away   error         // why it does not answer
}

// change has the bucket go by a clock that is ahead of the real one, and answer Get and Update with an error.
func (b *sharedSecrets) change(ahead time.Duration, away error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead, b.away = ahead, away
}

func (b *sharedSecrets) SealKey() [32]byte { return [32]byte{1} }

func (b *sharedSecrets) Get(_ context.Context, key string) (steps.Version, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away != nil {
		return steps.Version{}, b.away
	}
	if b.values[key] == nil {
		return steps.Version{}, steps.ErrNotFound
	}
	return steps.Version{Value: b.values[key], Revision: 1}, nil
}

func (b *sharedSecrets) Update(_ context.Context, key string, value []byte, _ uint64) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.values[key] = value
	return 1, b.away
}

func (b *sharedSecrets) Delete(context.Context, string) error   { return nil }
func (b *sharedSecrets) Keys(context.Context) ([]string, error) { return nil, nil }
func (b *sharedSecrets) Now(context.Context) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.ahead), nil
}

// A call outlives the client secret that began it, and its server: another server goes on with it for the same secret, and for no other one.
func TestACallOfAnExpiredSecretGoesOn(t *testing.T) {
	t.Parallel()
	var log journaltest.Log
	shared := &sharedSecrets{values: map[string][]byte{}}
	serve := func() (*harness, string) {
		d := open(t, func(c *Config) {
			c.Keys, c.SecretBucket, c.Journal = keys(t), shared, journal.New(journal.Config{Log: &journaltest.View{Log: &log}})
		})
		return d, d.serve() + "/v1/realtime"
	}
	d, one := serve()
	secret, other := d.secret(`{}`), d.secret(`{}`)
	p := d.connectExtended(one, secret)
	shared.change(11*time.Minute, nil)
	after, two := serve()
	again := p.reconnectURL(two, p.last)
	after.connectRefused(two, secret, http.StatusUnauthorized, "client_secret_expired")
	after.connectRefused(again, other, http.StatusNotFound, "resume_not_found")
	after.connectRefused(again, key, http.StatusNotFound, "resume_not_found")
	after.connect(again, secret).expectReconnected("hello")
	g := gomega.NewWithT(t)
	g.Eventually(func() map[string]Use { return after.h.Standing().Uses }, patience).Should(gomega.HaveKeyWithValue("desk", gomega.HaveField("Calls", 1)), "it counts for its principal")
}

// A client that is lost again before its session opens, because a back end takes long to load, comes back to its call.
func TestAClientIsLostWhileItsCallIsTakenOver(t *testing.T) {
	t.Parallel()
	var log journaltest.Log
	d, one := process(t, &journaltest.View{Log: &log})
	ready := make(chan struct{})
	next := open(t, func(c *Config) {
		p := *c.Pipeline
		p.Warm = func(ctx context.Context) error {
			select {
			case <-ready:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
		c.Keys, c.Journal, c.Pipeline = keys(t), journal.New(journal.Config{Log: &journaltest.View{Log: &log}}), &p
	})
	two := next.serve() + "/v1/realtime"
	first := d.connectExtended(one, key)
	d.g.Expect(first.ws.CloseNow()).To(gomega.Succeed())
	lost := next.connect(first.reconnectURL(two, first.last), key)
	lost.first() // the acknowledgement for a page: the call is taken over
	d.g.Expect(lost.ws.CloseNow()).To(gomega.Succeed())
	d.g.Eventually(func() int { now, _ := next.h.Calls(); return now }, patience).Should(gomega.BeZero())
	close(ready)
	again := next.connect(first.reconnectURL(two, first.last), key)
	again.send(`{"type":"session.update","session":{"type":"realtime","instructions":"Be kind."}}`)
	again.next("session.updated")
	d.g.Expect(again.seen).NotTo(gomega.HaveKey("session.created"), "it is the same session")
	d.g.Expect(again.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
}

// A journal that cannot be read is the same as one that is lost: the client begins a new call, and does not try again and again.
func TestADamagedJournal(t *testing.T) {
	t.Parallel()
	var log journaltest.Log
	view := &journaltest.View{Log: &log}
	d, one := process(t, view)
	p := d.connectExtended(one, key)
	sum := sha256.Sum256([]byte(p.token()))
	list := hex.EncodeToString(sum[:])
	entry, revision, err := view.Last(t.Context(), list)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	header := 1 + 4 + 8 + 8
	_, two := process(t, &journaltest.View{Log: &log})
	for _, damaged := range [][]byte{append(slices.Clone(entry[:header]), `[{"Taken":7}]`...), entry[:header], entry[:3]} {
		revision, err = view.Append(t.Context(), list, damaged, revision)
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		d.connectRefused(p.reconnectURL(two, p.last), key, http.StatusGone, "resume_lost")
	}
}
