package telephones

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/phones"
	"github.com/antiphon-rt/antiphon/internal/webhook"
	"github.com/antiphon-rt/antiphon/wire"
)

// Calls out: a program with an API key has the server call a telephone. The operator says over which trunks, whom, and how often.

// Outgoing is a telephone that this server calls.
type Outgoing interface {
	Telephone
	// Place calls it. It tells news what happens, returns when nothing of the call is left, and l has heard of its end then. news does not block.
	Place(l *phone.Link, rings time.Duration, news func(state string, status int))
}

// Out says which calls go out. The zero value places none.
type Out struct {
	Outlets []phones.Outlet
	// Dial returns a call to a target over a trunk.
	Dial func(trunk, target string) (Outgoing, error)
	// Webhook is told how far each call is; nil for none.
	Webhook *webhook.Hook
	// Refer are patterns as in a Plan.
	Refer []string
}

// outlets are the trunks over which calls go out.
type outlets struct {
	out    Out
	mu     sync.Mutex
	meters map[string]*meter // by trunk
}

// meter counts the calls of one trunk. It has at most PerHour entries for the last hour, and Calls for those at the moment.
type meter struct {
	now    []string // the principal of each call
	recent []placed
}

type placed struct {
	principal string
	at        time.Time
}

// places has the Desk place calls.
func (d *Desk) places(out Out) {
	out.Outlets = slices.Clone(out.Outlets)
	meters := map[string]*meter{}
	for i, o := range out.Outlets {
		out.Outlets[i], meters[o.Trunk] = o.WithDefaults(), &meter{}
	}
	d.out, d.meters = out, meters
}

// part returns the part of a limit that one of n principals has. All parts together may be more by rounding: the limit holds, too.
func part(limit, n int) int { return (limit + n - 1) / n }

// take counts a call of a principal, or says which limit is reached and when to try again; 0 for when another call ends.
func (m *meter) take(o *phones.Outlet, principal string, now time.Time) (wait time.Duration, why string) {
	m.recent = slices.DeleteFunc(m.recent, func(p placed) bool { return now.Sub(p.at) >= time.Hour })
	own := 0
	for _, p := range m.now {
		if p == principal {
			own++
		}
	}
	n := len(o.Principals)
	if len(m.now) >= o.Calls || own >= part(o.Calls, n) {
		return 0, "as many calls at a time as it may"
	}
	for _, window := range []struct {
		of    time.Duration
		limit int
		why   string
	}{{time.Minute, o.PerMinute, "as many calls in this minute as it may"}, {time.Hour, o.PerHour, "as many calls in this hour as it may"}} {
		if wait = max(m.wait(window.of, window.limit, "", now), m.wait(window.of, part(window.limit, n), principal, now)); wait > 0 {
			return wait, window.why
		}
	}
	m.now, m.recent = append(m.now, principal), append(m.recent, placed{principal, now})
	return 0, ""
}

// wait returns how long a window is full, with a limit for the calls of a principal; empty for those of all.
func (m *meter) wait(window time.Duration, limit int, principal string, now time.Time) time.Duration {
	for _, p := range slices.Backward(m.recent) {
		if principal != "" && p.principal != principal {
			continue
		}
		if limit--; limit == 0 {
			return max(0, window-now.Sub(p.at))
		}
	}
	return 0
}

// enter takes a place for a call of a principal over a trunk.
func (d *Desk) enter(trunk, principal, target string) (o phones.Outlet, p *answer.Problem) {
	d.outlets.mu.Lock()
	defer d.outlets.mu.Unlock()
	i := slices.IndexFunc(d.out.Outlets, func(o phones.Outlet) bool { return o.Trunk == trunk && slices.Contains(o.Principals, principal) })
	if i < 0 {
		return o, &answer.Problem{
			Status: http.StatusForbidden, Code: "trunk_not_allowed", Param: "trunk",
			Message: "this key places no calls over this trunk: the part out: of a trunk in antiphon.yaml says who does",
		}
	}
	o = d.out.Outlets[i]
	if !mayCall(o.Allow, target) {
		return o, &answer.Problem{
			Status: http.StatusForbidden, Code: "target_not_allowed", Param: "target_uri",
			Message: "the operator allows no calls to this target over this trunk: a pattern under out: allow: in antiphon.yaml would",
		}
	}
	wait, why := d.meters[trunk].take(&o, principal, d.env.Now())
	if why != "" {
		p = (&answer.Problem{Status: http.StatusTooManyRequests, Code: "too_many_calls", Param: "trunk", Message: "this trunk, or this key on it, has " + why}).After(max(wait, fullRetry))
	}
	return o, p
}

// mayCall reports whether one of the patterns has the target. Patterns of numbers have no addresses, although * stands for any characters.
func mayCall(patterns []string, target string) bool {
	isAddress := func(text string) bool { return strings.HasPrefix(text, "sip:") }
	return slices.ContainsFunc(patterns, func(p string) bool { return isAddress(p) == isAddress(target) && Matches(p, target) })
}

func (d *Desk) leave(trunk, principal string) {
	d.outlets.mu.Lock()
	defer d.outlets.mu.Unlock()
	m := d.meters[trunk]
	if i := slices.Index(m.now, principal); i >= 0 {
		m.now = slices.Delete(m.now, i, i+1)
	}
}

// asked is a request for a call.
type asked struct {
	Target   string          `json:"target_uri"`
	Trunk    string          `json:"trunk"`
	Session  json.RawMessage `json:"session"`
	Greeting *string         `json:"greeting"`
}

// Placed is the answer to a request for a call.
type Placed struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	State  string `json:"state"`
	Status int    `json:"status,omitempty"`
}

// firstNews is how long a request waits for the first news of its call.
const firstNews = 5 * time.Second

// maxGreeting is the length of the longest greeting of a request, in bytes.
const maxGreeting = 4096

// Asks reports whether a request asks for a telephone call.
func Asks(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// Place answers a request for a telephone call.
func (d *Desk) Place(w http.ResponseWriter, r *http.Request, of Owner) *answer.Problem {
	body, p := Body(w, r)
	if p != nil {
		return p
	}
	placed, p := d.place(r.Context(), body, of)
	if p != nil {
		return p
	}
	w.Header().Set("Location", "/v1/realtime/calls/"+placed.ID)
	answer.JSON(w, http.StatusCreated, placed)
	return nil
}

// maxBody is the size of the largest body that is read.
const maxBody = 1 << 20

// Body reads the body of a request about a telephone call; nil for an empty one.
func Body(w http.ResponseWriter, r *http.Request) ([]byte, *answer.Problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, answer.BadBody(err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	return body, nil
}

// place places the call that the body asks for. It returns with the first news of it, or after firstNews. A requester who is gone by then has no call.
func (d *Desk) place(ctx context.Context, body []byte, of Owner) (*Placed, *answer.Problem) {
	var want asked
	if p := readFields(body, &want); p != nil {
		return nil, p
	}
	target, err := phones.Target(want.Target)
	switch {
	case err != nil:
		return nil, answer.BadField(wire.CodeInvalidValue, "target_uri", err.Error())
	case want.Greeting != nil && len(*want.Greeting) > maxGreeting:
		return nil, answer.BadField(wire.CodeInvalidValue, "greeting", "the greeting is too long: at most 4096 bytes")
	}
	set, p := d.calls.Settings(wire.Raw(want.Session))
	if p != nil {
		return nil, p
	}
	outlet, p := d.enter(want.Trunk, of.Principal, target)
	if p != nil {
		return nil, p
	}
	if want.Greeting != nil {
		outlet.Greeting = want.Greeting
	}
	first := make(chan Placed, 1)
	c := &Call{id: d.calls.NewID(), desk: d, owner: of, decided: true, plan: Plan{Refer: d.out.Refer, Webhook: d.out.Webhook}}
	l, p := d.dial(ctx, c, &outlet, target, set, first)
	if p != nil {
		d.leave(outlet.Trunk, of.Principal)
		return nil, p
	}
	limit := time.NewTimer(firstNews)
	defer limit.Stop()
	select {
	case news := <-first:
		if refusals[news.State] != "" {
			return nil, &answer.Problem{
				Status: http.StatusConflict, Code: refusals[news.State], Param: "target_uri",
				Message: "the call was not answered: " + strings.ReplaceAll(news.State, "_", " ") + "; the log of the server says why",
			}
		}
		return &news, nil
	case <-limit.C:
		return &Placed{ID: c.id, Object: "realtime.call", State: "calling"}, nil
	case <-ctx.Done():
		l.Ended(link.ErrHungUp)
		return nil, &answer.Problem{Status: http.StatusRequestTimeout, Code: "request_canceled", Message: "the request was given up, and its call with it"}
	}
}

// refusals are the error codes of the states of a call that was not answered.
var refusals = map[string]string{
	"busy": "call_busy", "no_answer": "call_no_answer", "declined": "call_declined", "canceled": "call_canceled", "failed": "call_failed",
}

// dial begins the session of a call and has the telephone called. The caller has taken a place, which dial gives back if it succeeds.
func (d *Desk) dial(ctx context.Context, c *Call, o *phones.Outlet, target string, set wire.Session, first chan<- Placed) (*phone.Link, *answer.Problem) {
	t, err := d.out.Dial(o.Trunk, target)
	if err != nil {
		return nil, answer.Failed(http.StatusBadGateway, "call_failed", err.Error())
	}
	c.phone = t
	l, over, p := d.calls.Begin(context.WithoutCancel(ctx), c.id, set, c.owner, t)
	if p != nil {
		return nil, p
	}
	d.logger.Info("the server calls a telephone", "call", c.id, "trunk", o.Trunk, "target", target, "principal", c.owner.Principal)
	l.Greets(o.Greeting)
	strikes, tells, trunk, rings := d.lists(c), c.reports(), o.Trunk, o.Rings
	go func() { // it ends when nothing of the call is left: Place and the session have bounds
		defer d.leave(trunk, c.owner.Principal)
		defer strikes()
		defer close(tells)
		t.Place(l, rings, func(state string, status int) {
			news := Placed{ID: c.id, Object: "realtime.call", State: state, Status: status}
			if state == "answered" {
				c.mu.Lock()
				c.accepted = true
				c.mu.Unlock()
			}
			l.Progress(state, status)
			tells <- news
			select {
			case first <- news:
			default: // the request has its answer
			}
		})
		<-over
	}()
	return l, nil
}

// maxNews is how many states a call has at most.
const maxNews = 8

// progress is the data of the event antiphon.call.progress for the webhook.
type progress struct {
	CallID string `json:"call_id"`
	State  string `json:"state"`
	Status int    `json:"status,omitempty"`
}

// reports tells the webhook what is sent to the channel, in order, until it is closed.
func (c *Call) reports() chan<- Placed {
	tells := make(chan Placed, maxNews)
	go func() {
		for n := range tells {
			if c.plan.Webhook == nil {
				continue
			}
			if err := c.desk.send(context.Background(), c.plan.Webhook, "antiphon.call.progress", progress{c.id, n.State, n.Status}); err != nil { // it has a bound of its own
				c.desk.logger.Info("the webhook has not taken the progress of a call", "call", c.id, "state", n.State, "error", err)
			}
		}
	}()
	return tells
}
