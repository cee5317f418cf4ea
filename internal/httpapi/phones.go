package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/jsonbody"
	"github.com/antiphon-rt/antiphon/internal/webhook"
	"github.com/antiphon-rt/antiphon/wire"
)

// Telephone calls: they ring, a program of the operator or the configuration decides, and then they are calls like all others.

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
}

// PhonePlan says what happens with a telephone call.
type PhonePlan struct {
	// Principal has the call: its keys control it.
	Principal string
	// Session is merged into the settings of the server: a session object, or nil.
	Session json.RawMessage
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

// decision is what was decided on a call that rings: link for one that is accepted, status for one that is refused.
type decision struct {
	link   *phone.Link
	status int
}

// phoneCall is a telephone call that rings, or that was accepted.
type phoneCall struct {
	id    string
	phone Telephone
	plan  PhonePlan
	owner requester

	mu       sync.Mutex
	decided  bool
	accepted bool
	gone     bool          // the caller has given up while a decision was made
	made     chan decision // has room for the one decision
}

// claim reports whether the call is still undecided, and has it decided: the caller then calls settle.
func (c *phoneCall) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.decided
	c.decided = true
	return first
}

// settle passes on the decision of who has claimed the call.
func (c *phoneCall) settle(d decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = d.link != nil
	c.made <- d
}

// unclaim gives a call back whose decision could not be made.
func (c *phoneCall) unclaim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decided = c.gone; c.gone {
		c.made <- decision{status: unavailable}
	}
}

// giveUp notes that the caller waits no longer. It reports false if a decision has come, or is about to come.
func (c *phoneCall) giveUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	first := !c.decided
	c.decided = true
	return first
}

// decide makes a decision. It reports false if there is one already.
func (c *phoneCall) decide(d decision) bool {
	if !c.claim() {
		return false
	}
	c.settle(d)
	return true
}

func (c *phoneCall) isAccepted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted
}

// Ring decides on a telephone call, and returns when it is refused or when it was accepted and is over. ctx is done when the caller gives up, or when the call has rung for too long.
func (h *Handler) Ring(ctx context.Context, t Telephone, plan PhonePlan) {
	c := &phoneCall{
		id: rtcPrefix + h.mark(rand.Text()), phone: t, plan: plan, made: make(chan decision, 1),
		owner: requester{principal: plan.Principal, address: t.Peer()},
	}
	logger := h.cfg.Logger.With("call", c.id, "trunk", t.Trunk())
	logger.Info("a telephone rings", "number", t.Number())
	h.mu.Lock()
	h.phones[c.id] = c
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.phones, c.id)
	}()
	ringing, stop := context.WithCancel(ctx)
	defer stop()
	if plan.Webhook == nil {
		if p := h.takePhone(ctx, c, nil); p != nil {
			logger.Info("telephone call refused", "code", p.Code, "why", p.Message)
			c.decide(decision{status: refusedNow})
		}
	} else {
		go h.tell(ringing, c)
	}
	select {
	case d := <-c.made:
		h.follow(c, d)
	case <-ctx.Done():
		if c.giveUp() {
			logger.Info("nobody has decided on the telephone call in time")
			return
		}
		h.follow(c, <-c.made)
	}
}

// follow does what was decided, and returns when the call is over.
func (h *Handler) follow(c *phoneCall, d decision) {
	if d.link == nil {
		if err := c.phone.Reject(d.status); err != nil {
			h.cfg.Logger.Debug("telephone call not refused", "call", c.id, "error", err)
		}
		return
	}
	h.mu.Lock()
	entry := h.calls[c.id]
	h.mu.Unlock()
	if err := c.phone.Accept(d.link); err != nil {
		h.cfg.Logger.Info("telephone call ends before it begins", "call", c.id, "error", err)
		d.link.Ended(fmt.Errorf("%w: %w", link.ErrHungUp, err))
	}
	if entry != nil {
		<-entry.session.Done()
	}
}

// incoming is the event of a call that rings.
type incoming struct {
	Object    string       `json:"object"`
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	CreatedAt int64        `json:"created_at"`
	Data      incomingData `json:"data"`
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
func (h *Handler) tell(ctx context.Context, c *phoneCall) {
	e := incoming{Object: "event", ID: "evt_" + rand.Text(), Type: "realtime.call.incoming", CreatedAt: h.env.Now().Unix(), Data: incomingData{CallID: c.id}}
	for _, header := range c.phone.Headers() {
		e.Data.Headers = append(e.Data.Headers, sipHeader{header[0], header[1]})
	}
	body, err := json.Marshal(e)
	if err == nil {
		err = c.plan.Webhook.Send(ctx, e.ID, body)
	}
	if err != nil && c.decide(decision{status: unavailable}) {
		h.cfg.Logger.Warn("telephone call refused: the webhook has not taken the event", "call", c.id, "error", err)
	}
}

// takePhone begins the call of a telephone that rings. patch is the session object of a request to accept it, or nil.
func (h *Handler) takePhone(ctx context.Context, c *phoneCall, patch wire.Raw) *problem {
	set := h.cfg.Settings.Clone()
	for _, p := range []wire.Raw{wire.Raw(c.plan.Session), patch} {
		if len(p) == 0 {
			continue
		}
		if err := conversation.Merge(h.cfg.Pipeline, h.cfg.Options.MCP, &set, p); err != nil {
			return badSession(err)
		}
	}
	if !c.claim() {
		return decidedAlready()
	}
	_, l, p := h.beginPhone(ctx, c.id, set, c.owner, c.phone)
	if p != nil {
		c.unclaim()
		return p
	}
	c.settle(decision{link: l})
	return nil
}

// beginPhone begins the session of a telephone call. The caller has the link begin.
func (h *Handler) beginPhone(ctx context.Context, id string, set wire.Session, who requester, t phone.Transport) (*callEntry, *phone.Link, *problem) {
	c, p := h.newCall(ctx, id, set, who)
	if p != nil {
		return nil, nil, p
	}
	l, err := phone.NewLink(t, c.session)
	if err != nil {
		h.abandon(id, c)
		return nil, nil, internal("internal", err)
	}
	c.session.Start(h.began(c, l, nil))
	return c, l, nil
}

// phoneOf returns the telephone call with that id if the requester may control it, or nil.
func (h *Handler) phoneOf(id string, who requester) *phoneCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.phones[id]; c != nil && who.mayControl(c.owner) {
		return c
	}
	return nil
}

// decidedAlready returns the response to a second decision on a call.
func decidedAlready() *problem {
	return &problem{Status: http.StatusConflict, Code: "decision_already_made", Message: "the call was accepted or rejected already, or its caller has given up"}
}

// decidesPhone returns the endpoint of a request about a telephone call. It wants a key.
func (h *Handler) decidesPhone(next func(w http.ResponseWriter, r *http.Request, c *phoneCall, body []byte) *problem) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if who.secret != nil {
			return keyWanted("decides on no telephone call")
		}
		c := h.phoneOf(r.PathValue("id"), who)
		if c == nil {
			return &problem{
				Status: http.StatusNotFound, Code: "no_sip_call",
				Message: "no SIP call waits: there is none with this id, or it has ended; a call over WebRTC has begun when its offer is answered; POST /v1/realtime/calls/" +
					r.PathValue("id") + "/hangup ends one",
			}
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return answer.BadBody(err)
		}
		if len(strings.TrimSpace(string(body))) == 0 {
			body = nil
		}
		if p := next(w, r, c, body); p != nil {
			return p
		}
		answer.JSON(w, http.StatusOK, struct{}{})
		return nil
	}
}

// acceptPhone accepts a call that rings: the body is its session object.
func (h *Handler) acceptPhone(_ http.ResponseWriter, r *http.Request, c *phoneCall, body []byte) *problem {
	if len(body) == 0 {
		return badField("missing_field", "type", `the body has no session object: send at least {"type": "realtime"}`)
	}
	return h.takePhone(context.WithoutCancel(r.Context()), c, wire.Raw(body))
}

// rejectPhone refuses a call that rings.
func (h *Handler) rejectPhone(_ http.ResponseWriter, _ *http.Request, c *phoneCall, body []byte) *problem {
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
		return badField(wire.CodeInvalidValue, "status_code", "want a status with which SIP refuses a call: 400 to 699, such as 486 (busy) or 603 (declined)")
	}
	if !c.decide(decision{status: status}) {
		return decidedAlready()
	}
	return nil
}

// referPhone transfers a call.
func (h *Handler) referPhone(_ http.ResponseWriter, r *http.Request, c *phoneCall, body []byte) *problem {
	var asked struct {
		Target string `json:"target_uri"`
	}
	if p := readFields(body, &asked); p != nil {
		return p
	}
	switch target := asked.Target; {
	case target == "" || len(target) > 512 || !isTarget(target):
		return badField(wire.CodeInvalidValue, "target_uri", "want an address such as tel:+4930123456 or sip:agent@example.com")
	case !allowed(c.plan.Refer, target):
		return &problem{
			Status: http.StatusForbidden, Code: "target_not_allowed", Param: "target_uri",
			Message: "the operator allows no transfer to this address: a pattern under phones: refer: in antiphon.yaml would",
		}
	case !c.isAccepted():
		return &problem{Status: http.StatusConflict, Code: "call_not_accepted", Message: "the call is not accepted yet: accept it before it is transferred"}
	}
	if err := c.phone.Refer(r.Context(), asked.Target); err != nil {
		return &problem{Status: http.StatusBadGateway, Kind: "server_error", Code: "refer_failed", Message: err.Error()}
	}
	return nil
}

// readFields reads a JSON object; an empty body has no fields.
func readFields(body []byte, into any) *problem {
	if len(body) == 0 {
		return nil
	}
	err := jsonbody.Decode(body, into)
	if wrong, is := errors.AsType[*jsonbody.Error](err); is {
		return badField(wire.CodeInvalidValue, wrong.Param, wrong.Message)
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
