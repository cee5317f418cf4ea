package bargein

// One client in a browser tab: it places a call through a simulated network link, requests responses, and collects events and
// recording.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The clients that page.js knows.
const (
	ours        = "ours"        // Antiphon's script
	unpredicted = "unpredicted" // the same with prediction off
	stock       = "stock"       // @openai/agents-realtime, unmodified
	naive       = "naive"       // the same; the page mutes the agent while the microphone is loud
)

// caller is one client, in its own tab and with its own network link.
type caller struct {
	kind   string
	tab    *rig.Tab
	relay  *rig.Relay
	passed []rig.Passed // the events so far
	read   int          // how many of passed await has passed over
}

// call opens the page in a new tab and connects a client of a kind to the server behind the link.
func (h *house) call(b *rig.Browser, kind, server string, link rig.Link) (*caller, error) {
	return h.callWith(b, kind, server, link, "{}")
}

// callWith is call with options for the page's client.
func (h *house) callWith(b *rig.Browser, kind, server string, link rig.Link, options string) (_ *caller, err error) {
	c := &caller{kind: kind}
	if c.relay, err = rig.NewRelay(server, link); err != nil {
		return nil, err
	}
	if c.tab, err = b.Open(h.site + "/"); err != nil {
		return nil, errors.Join(err, c.relay.Close())
	}
	if err = c.tab.Listen(); err == nil {
		_, err = rig.Await[any](c.tab, fmt.Sprintf(`begin(%q, {...%s, url: %q})`, kind, options, c.relay.URL))
	}
	if err == nil {
		err = c.await("session.created", patience)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting %s: %w", kind, err), c.close())
	}
	return c, nil
}

// patience bounds the wait for an event that must come.
const patience = 20 * time.Second

// close hangs up and closes the tab.
func (c *caller) close() error {
	_, _ = rig.Await[any](c.tab, `end()`) // after a failed call there is nothing to end
	c.tab.Close()
	return c.relay.Close()
}

// write sends a text.
func (c *caller) write(text string) error {
	_, err := rig.Await[any](c.tab, fmt.Sprintf(`write(%q)`, text))
	return err
}

// errQuiet says that an event did not come.
var errQuiet = errors.New("did not come")

// await waits for the next server event of this type, and passes over all events up to it.
func (c *caller) await(kind string, within time.Duration) error {
	_, err := c.find(kind, within)
	return err
}

func (c *caller) find(kind string, within time.Duration) (rig.Passed, error) {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		more, err := c.tab.Events()
		if err != nil {
			return rig.Passed{}, err
		}
		c.passed = append(c.passed, more...)
		for i, p := range c.passed[c.read:] {
			if p.Dir == "server" && typeOf(p) == kind {
				c.read += i + 1
				return p, nil
			}
		}
		select {
		case <-look.C:
		case <-deadline.C:
			return rig.Passed{}, fmt.Errorf("%s: %w", kind, errQuiet)
		}
	}
}

// skip passes over all events that have come.
func (c *caller) skip() error {
	more, err := c.tab.Events()
	c.passed = append(c.passed, more...)
	c.read = len(c.passed)
	return err
}

// since returns the server's events of this type that came after a moment on the page's clock.
func (c *caller) since(kind string, at float64) []rig.Passed {
	var found []rig.Passed
	for _, p := range c.passed {
		if p.At >= at && p.Dir == "server" && typeOf(p) == kind {
			found = append(found, p)
		}
	}
	return found
}

func typeOf(p rig.Passed) string {
	var e struct{ Type string }
	_ = json.Unmarshal(p.Event, &e) // a text that is no event has no type
	return e.Type
}

// report is what the page reports about Antiphon's script.
type report struct {
	Metrics      json.RawMessage
	Errors       []string
	Interrupting []struct {
		At float64
		Is bool
	}
}

func (c *caller) report() (report, error) { return rig.Evaluate[report](c.tab, `report()`) }

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
