// Package telephones decides on telephone calls. They ring, a program of the operator or the configuration decides, and then they are calls like all others. Telephones that come
// over a WebSocket have doors (doors.go).
package telephones

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/jsonbody"
	"github.com/antiphon-rt/antiphon/internal/webhook"
	"github.com/antiphon-rt/antiphon/wire"
)

// Calls are the calls of the server, to which those of telephones belong.
type Calls interface {
	// NewID returns the id of a call.
	NewID() string
	// Settings returns the settings of the server, changed by session objects. An empty one changes nothing.
	Settings(patches ...wire.Raw) (wire.Session, *answer.Problem)
	// Begin begins the session of a call. over is closed when the call is over.
	Begin(ctx context.Context, id string, set wire.Session, of Owner, t phone.Transport) (l *phone.Link, over <-chan struct{}, p *answer.Problem)
	// Charge takes a request from the owner's budget.
	Charge(of Owner) *answer.Problem
	// SocketLimits returns the limits of a WebSocket of the owner.
	SocketLimits(of Owner) ws.Limits
	// Refuse answers a request that is refused.
	Refuse(w http.ResponseWriter, r *http.Request, p *answer.Problem)
}

// Owner is who has a telephone call: a principal, whose keys control it, and the address from which it comes.
type Owner struct {
	Principal string
	Address   netip.Addr
}

// Telephone is a telephone call that rings.
type Telephone interface {
	phone.Transport
	// Trunk is the name of who brings the call, Number what was called, and Peer the address from which the call comes.
	Trunk() string
	Number() string
	Peer() netip.Addr
	// Headers are the headers of its request: names and values.
	Headers() [][2]string
	// Accept answers the call, and returns when the caller has confirmed it. After an error l has heard that the call is over.
	Accept(l *phone.Link) error
	// Reject refuses the call with a status of SIP.
	Reject(status int) error
	// Refer asks the caller's side to call target in place of this server.
	Refer(ctx context.Context, target string) error
	// Press has keys sent to the telephone, and does not wait for them.
	Press(keys string) error
}

// Plan says what happens with a telephone call.
type Plan struct {
	// Principal has the call: its keys control it.
	Principal string
	// Session is merged into the settings of the server: a session object, or nil.
	Session json.RawMessage
	// Greeting is what the agent says first: see phone.Link.Greets. A call on which Webhook decides is greeted by the program behind it.
	Greeting *string
	// Webhook is asked who answers; nil: the server does.
	Webhook *webhook.Hook
	// Refer are patterns of the targets to which a call may be transferred, such as "tel:+4930*"; nil for none.
	Refer []string
}

// Statuses of SIP with which a call is refused.
const (
	declined    = 603
	unavailable = 480
	refusedNow  = 503
)

// Desk decides on telephone calls. Make it with New. It is safe for concurrent use.
type Desk struct {
	calls  Calls
	env    env.Env
	logger *slog.Logger

	mu   sync.Mutex
	open map[string]*Call // by id: those that ring, and those that were accepted
	outlets
}

// New returns a Desk, which places the calls that out allows.
func New(calls Calls, e env.Env, logger *slog.Logger, out Out) *Desk {
	d := &Desk{calls: calls, env: e, logger: logger, open: map[string]*Call{}}
	d.places(out)
	return d
}

// decision is what was decided on a call that rings: link and over for one that is accepted, status for one that is refused.
type decision struct {
	link   *phone.Link
	over   <-chan struct{}
	status int
}

// Call is a telephone call that rings, or that was accepted.
type Call struct {
	id    string
	desk  *Desk
	phone Telephone
	plan  Plan
	owner Owner

	mu       sync.Mutex
	decided  bool
	accepted bool
	gone     bool          // the caller has given up while a decision was made
	made     chan decision // has room for the one decision
}

// claim reports whether the call is still undecided, and has it decided: the caller then calls settle.
func (c *Call) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.decided
	c.decided = true
	return first
}

// settle passes on the decision of who has claimed the call.
func (c *Call) settle(d decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = d.link != nil
	c.made <- d
}

// unclaim gives a call back whose decision could not be made.
func (c *Call) unclaim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decided = c.gone; c.gone {
		c.made <- decision{status: unavailable}
	}
}

// giveUp notes that the caller waits no longer. It reports false if a decision has come, or is about to come.
func (c *Call) giveUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	first := !c.decided
	c.decided = true
	return first
}

// decide makes a decision. It reports false if there is one already.
func (c *Call) decide(d decision) bool {
	if !c.claim() {
		return false
	}
	c.settle(d)
	return true
}

func (c *Call) isAccepted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted
}

// NoCall returns the response to a request about a telephone call that there is not.
func NoCall(id string) *answer.Problem {
	return &answer.Problem{
		Status: http.StatusNotFound, Code: "no_sip_call",
		Message: "no SIP call waits: there is none with this id, or it has ended; a call over WebRTC has begun when its offer is answered; POST /v1/realtime/calls/" + id + "/hangup ends one",
	}
}

// Owner returns who has the call.
func (c *Call) Owner() Owner { return c.owner }

// Decline refuses the call. It reports false if there is a decision already.
func (c *Call) Decline() bool { return c.decide(decision{status: declined}) }

// Find returns the telephone call with that id that rings or was accepted, or nil.
func (d *Desk) Find(id string) *Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[id]
}

// Ring decides on a telephone call, and returns when it is refused or when it was accepted and is over. ctx is done when the caller gives up, or when the call has rung for too long.
func (d *Desk) Ring(ctx context.Context, t Telephone, plan Plan) {
	c := &Call{id: d.calls.NewID(), desk: d, phone: t, plan: plan, made: make(chan decision, 1), owner: Owner{plan.Principal, t.Peer()}}
	logger := d.logger.With("call", c.id, "trunk", t.Trunk())
	logger.Info("a telephone rings", "number", t.Number())
	defer d.lists(c)()
	ringing, stop := context.WithCancel(ctx)
	defer stop()
	if plan.Webhook == nil {
		if p := c.take(ctx, nil); p != nil {
			logger.Info("telephone call refused", "code", p.Code, "why", p.Message)
			c.decide(decision{status: refusedNow})
		}
	} else {
		go c.tell(ringing)
	}
	select {
	case made := <-c.made:
		c.follow(made)
	case <-ctx.Done():
		if c.giveUp() {
			logger.Info("nobody has decided on the telephone call in time")
			return
		}
		c.follow(<-c.made)
	}
}

// lists has Find find a call until the function is called that it returns.
func (d *Desk) lists(c *Call) (strikes func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[c.id] = c
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, c.id)
	}
}

// follow does what was decided, and returns when the call is over.
func (c *Call) follow(made decision) {
	if made.link == nil {
		if err := c.phone.Reject(made.status); err != nil {
			c.desk.logger.Debug("telephone call not refused", "call", c.id, "error", err)
		}
		return
	}
	if err := c.phone.Accept(made.link); err != nil {
		c.desk.logger.Info("telephone call ends before it begins", "call", c.id, "error", err)
		made.link.Ended(fmt.Errorf("%w: %w", link.ErrHungUp, err))
	}
	<-made.over
}

// hookEvent is an event for the webhook.
type hookEvent struct {
	Object    string `json:"object"`
	ID        string `json:"id"`
	Type      string `json:"type"`
	CreatedAt int64  `json:"created_at"`
	Data      any    `json:"data"`
}

// send tells the webhook of an event.
func (d *Desk) send(ctx context.Context, to *webhook.Hook, kind string, data any) error {
	e := hookEvent{Object: "event", ID: "evt_" + rand.Text(), Type: kind, CreatedAt: d.env.Now().Unix(), Data: data}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return to.Send(ctx, e.ID, body)
}

type incomingData struct {
	CallID  string      `json:"call_id"`
	Headers []sipHeader `json:"sip_headers"`
}

type sipHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// tell tells the webhook of a call that rings. A webhook that does not take the event refuses the call.
func (c *Call) tell(ctx context.Context) {
	data := incomingData{CallID: c.id}
	for _, header := range c.phone.Headers() {
		data.Headers = append(data.Headers, sipHeader{header[0], header[1]})
	}
	if err := c.desk.send(ctx, c.plan.Webhook, "realtime.call.incoming", data); err != nil && c.decide(decision{status: unavailable}) {
		c.desk.logger.Warn("telephone call refused: the webhook has not taken the event", "call", c.id, "error", err)
	}
}

// take begins the call of a telephone that rings. patch is the session object of a request to accept it, or nil.
func (c *Call) take(ctx context.Context, patch wire.Raw) *answer.Problem {
	set, p := c.desk.calls.Settings(wire.Raw(c.plan.Session), patch)
	if p != nil {
		return p
	}
	if !c.claim() {
		return decidedAlready()
	}
	l, over, p := c.desk.calls.Begin(ctx, c.id, set, c.owner, c.phone)
	if p != nil {
		c.unclaim()
		return p
	}
	if c.plan.Webhook == nil {
		l.Greets(c.plan.Greeting)
	}
	c.settle(decision{link: l, over: over})
	return nil
}

// decidedAlready returns the response to a second decision on a call.
func decidedAlready() *answer.Problem {
	return &answer.Problem{Status: http.StatusConflict, Code: "decision_already_made", Message: "the call was accepted or rejected already, or its caller has given up"}
}

// Accept accepts a call that rings: the body is its session object.
func (c *Call) Accept(r *http.Request, body []byte) *answer.Problem {
	if len(body) == 0 {
		return answer.BadField("missing_field", "type", `the body has no session object: send at least {"type": "realtime"}`)
	}
	return c.take(context.WithoutCancel(r.Context()), wire.Raw(body))
}

// Reject refuses a call that rings. The body may have a status_code.
func (c *Call) Reject(_ *http.Request, body []byte) *answer.Problem {
	var asked struct {
		Status *int `json:"status_code"`
	}
	if p := readFields(body, &asked); p != nil {
		return p
	}
	status := declined
	if asked.Status != nil {
		status = *asked.Status
	}
	if status < 400 || status > 699 {
		return answer.BadField(wire.CodeInvalidValue, "status_code", "want a status with which SIP refuses a call: 400 to 699, such as 486 (busy) or 603 (declined)")
	}
	if !c.decide(decision{status: status}) {
		return decidedAlready()
	}
	return nil
}

// Refer transfers a call to the target_uri of the body.
func (c *Call) Refer(r *http.Request, body []byte) *answer.Problem {
	var asked struct {
		Target string `json:"target_uri"`
	}
	if p := readFields(body, &asked); p != nil {
		return p
	}
	switch target := asked.Target; {
	case target == "" || len(target) > 512 || !isTarget(target):
		return answer.BadField(wire.CodeInvalidValue, "target_uri", "want an address such as tel:+4930123456 or sip:agent@example.com")
	case !allowed(c.plan.Refer, target):
		return &answer.Problem{
			Status: http.StatusForbidden, Code: "target_not_allowed", Param: "target_uri",
			Message: "the operator allows no transfer to this address: a pattern under phones: refer: in antiphon.yaml would",
		}
	case !c.isAccepted():
		return &answer.Problem{Status: http.StatusConflict, Code: "call_not_accepted", Message: "the call is not accepted yet: accept it before it is transferred"}
	}
	if err := c.phone.Refer(r.Context(), asked.Target); err != nil {
		return &answer.Problem{Status: http.StatusBadGateway, Kind: "server_error", Code: "refer_failed", Message: err.Error()}
	}
	return nil
}

// Press presses the keys of the body.
func (c *Call) Press(_ *http.Request, body []byte) *answer.Problem {
	var asked struct {
		Digits string `json:"digits"`
	}
	p := readFields(body, &asked)
	switch {
	case p != nil:
		return p
	case asked.Digits == "" || strings.Trim(asked.Digits, "0123456789*#ABCD") != "":
		return answer.BadField(wire.CodeInvalidValue, "digits", "want the keys to press: 0 to 9, *, # and A to D, such as 12#")
	case !c.isAccepted():
		return &answer.Problem{Status: http.StatusConflict, Code: "call_not_accepted", Message: "the call is not accepted yet: accept it before keys are pressed"}
	}
	if err := c.phone.Press(asked.Digits); err != nil {
		return &answer.Problem{Status: http.StatusConflict, Code: "keys_not_sent", Param: "digits", Message: err.Error()}
	}
	return nil
}

// readFields reads a JSON object; an empty body has no fields.
func readFields(body []byte, into any) *answer.Problem {
	if len(body) == 0 {
		return nil
	}
	err := jsonbody.Decode(body, into)
	if wrong, is := errors.AsType[*jsonbody.Error](err); is {
		return answer.BadField(wire.CodeInvalidValue, wrong.Param, wrong.Message)
	}
	return nil
}

// isTarget reports whether an address is one of a telephone. An address with headers, or with a second @, is none: it could have the form of a
// pattern such as sip:*@example.com and lead elsewhere.
func isTarget(uri string) bool {
	scheme, rest, ok := strings.Cut(uri, ":")
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("<>\"?", r) }
	if strings.ContainsFunc(uri, odd) || strings.Count(uri, "@") > 1 {
		return false
	}
	switch strings.ToLower(scheme) {
	case "sip", "sips", "tel":
		return ok && rest != ""
	}
	return false
}

// allowed reports whether one of the patterns has the target. A * in a pattern stands for any characters.
func allowed(patterns []string, target string) bool {
	for _, p := range patterns {
		if Matches(p, target) {
			return true
		}
	}
	return false
}

// Matches reports whether a text has the form of a pattern, in which * stands for any characters. Letters of both cases are the same.
func Matches(pattern, text string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	text = strings.ToLower(text)
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
