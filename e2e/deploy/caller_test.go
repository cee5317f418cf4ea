package deploy

// A client of these tests: the whole SDK with sound in memory, over a dialer that keeps the server's events.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// caller is one client on a call. Its expectations wait for takenOver.
type caller struct {
	*gomega.WithT
	*sdk.Session
	sdk.Dialer
	speaker   *native.Speaker
	mic       native.Microphone
	webSocket bool

	mu       sync.Mutex
	location string // the path of the call over WebRTC
	link     sdk.Peer
	events   []told
	lost     []time.Time // when the session has shown that its connection is lost
}

// told is what these tests read of an event of the server.
type told struct {
	Type    string
	EventID string `json:"event_id"`
	ItemID  string `json:"item_id"`
	Item    struct{ ID, Role string }
	Error   struct{ Code, Message string }
}

// newCaller places a call with the server at url and waits until it is connected. The call ends with the test.
func newCaller(t *testing.T, url string, webSocket bool) *caller {
	t.Helper()
	c := &caller{WithT: gomega.NewWithT(t), speaker: native.NewSpeaker(0), webSocket: webSocket}
	c.SetDefaultEventuallyTimeout(takenOver)
	o := native.Options{URL: url, Speaker: c.speaker, Microphone: &c.mic, Loopback: true, Client: &http.Client{Transport: c}}
	c.Dialer = native.NewSocketDialer(o)
	if !webSocket {
		d, err := native.NewDialer(o)
		c.Expect(err).NotTo(gomega.HaveOccurred())
		c.Dialer = d
	}
	s, err := sdk.New(sdk.Options{Dialer: c})
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Session = s
	before := s.Snapshot().State
	s.Subscribe(func(now sdk.Snapshot) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now.State == sdk.Reconnecting && before != sdk.Reconnecting {
			c.lost = append(c.lost, time.Now())
		}
		before = now.State
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("hanging up: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), takenOver)
	defer cancel()
	c.Expect(s.Connect(ctx)).To(gomega.Succeed())
	return c
}

// Dial implements sdk.Dialer.
func (c *caller) Dial(ctx context.Context, config sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p, err := c.Dialer.Dial(ctx, config, func(e sdk.PeerEvent) {
		if m, is := e.(sdk.Message); is {
			var one told
			_ = json.Unmarshal(m.Data, &one) // an event that cannot be read has no type
			c.mu.Lock()
			c.events = append(c.events, one)
			c.mu.Unlock()
		}
		sink(e)
	})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.link = p
	}
	return p, err
}

// RoundTrip implements http.RoundTripper: it notes where the call is.
func (c *caller) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && response.Header.Get("Location") != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.location = response.Header.Get("Location")
	}
	return response, err
}

// path returns the path of the call over WebRTC.
func (c *caller) path() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.location
}

// isFound checks that a request about a call over WebRTC reaches it through a server.
func (c *caller) isFound(t *testing.T, through *rig.Program) {
	t.Helper()
	if c.webSocket {
		return
	}
	_, id, _ := strings.Cut(c.path(), "calls/")
	ctx, cancel := context.WithTimeout(t.Context(), takenOver)
	defer cancel()
	sideband := socketTo(ctx, t, through.URL+"/v1/realtime?call_id="+id)
	until(ctx, c.WithT, sideband, "session.created")
	c.Expect(sideband.CloseNow()).To(gomega.Succeed())
}

// all returns the events of this type so far; all events for an empty type.
func (c *caller) all(kind string) (found []told) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if kind == "" || e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

// losses returns when the connection was lost.
func (c *caller) losses() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lost)
}

// says reports whether the conversation has an entry of the agent with this text.
func (c *caller) says(text string) bool {
	for _, e := range c.Snapshot().Transcript {
		if e.Role == sdk.Agent && e.Text == text {
			return true
		}
	}
	return false
}

// asks sends a text, which the agent repeats, and waits for the response.
func (c *caller) asks(text string) {
	c.Eventually(func() bool { return c.Snapshot().State.OnCall() }).Should(gomega.BeTrue(), "the call is there")
	c.Expect(c.SendText(text)).To(gomega.Succeed())
	c.hasSaid(text)
}

// hasSaid waits until the agent has repeated a text.
func (c *caller) hasSaid(text string) {
	c.Eventually(func() bool { return c.says("You said: " + text) }).Should(gomega.BeTrue(), func() string { return c.story() })
}

// story returns the conversation and the events, for a test that fails.
func (c *caller) story() string {
	var b strings.Builder
	s := c.Snapshot()
	fmt.Fprintf(&b, "%v, %v\n", s.State, s.Err)
	for _, e := range s.Transcript {
		fmt.Fprintf(&b, "%v: %q %s\n", e.Role, e.Text, e.Note)
	}
	last := ""
	for _, e := range c.all("") {
		if e.Type != last {
			fmt.Fprintf(&b, "%s %s %s\n", e.Type, e.Item.ID+e.ItemID, e.Error.Message)
		}
		last = e.Type
	}
	return b.String()
}

// wentOn checks that the call is still the one that began: one session, no event twice, each item once, and the server has each item that it has told of. It returns how many
// items and events it has checked.
func (c *caller) wentOn() account {
	c.Expect(c.all("session.created")).To(gomega.HaveLen(1), c.story())
	events, items := map[string]int{}, map[string]int{}
	for _, e := range c.all("") {
		if e.EventID != "" {
			events[e.EventID]++
			c.Expect(events[e.EventID]).To(gomega.Equal(1), "event %s of type %s came again", e.EventID, e.Type)
		}
		if e.Type == "conversation.item.added" {
			items[e.Item.ID]++
			c.Expect(items[e.Item.ID]).To(gomega.Equal(1), "item %s is added again", e.Item.ID)
		}
	}
	for _, e := range c.all("conversation.item.deleted") {
		delete(items, e.ItemID) // a turn without words
	}
	c.Expect(items).NotTo(gomega.BeEmpty())
	c.mu.Lock()
	link := c.link
	c.mu.Unlock()
	for id := range items {
		c.Expect(link.Send([]byte(`{"type":"conversation.item.retrieve","item_id":"` + id + `"}`))).To(gomega.Succeed())
		c.Eventually(func() bool {
			for _, e := range c.all("conversation.item.retrieved") {
				if e.Item.ID == id {
					return true
				}
			}
			return false
		}).Should(gomega.BeTrue(), func() string { return "the server has lost " + id + ":\n" + c.story() })
	}
	return account{len(items), len(events)}
}

// account says how many acknowledged items and events of calls were found once.
type account struct{ items, events int }

func (a *account) add(b account) { a.items, a.events = a.items+b.items, a.events+b.events }

func (a account) String() string {
	return fmt.Sprintf("%d items and %d events that the clients were told of: 0 lost, 0 doubled", a.items, a.events)
}
