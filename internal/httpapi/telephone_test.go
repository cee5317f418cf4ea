package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/internal/phones"
	"github.com/antiphon-rt/antiphon/internal/webhook"
	"github.com/antiphon-rt/antiphon/wire"
)

// handset is a telephone without a network.
type handset struct {
	accepted chan *phone.Link
	rejected chan int
	referred chan string
	pressed  chan string
	hungUp   chan struct{}
	once     sync.Once
	fails    error // of Accept
}

func newHandset() *handset {
	return &handset{accepted: make(chan *phone.Link, 1), rejected: make(chan int, 1), referred: make(chan string, 1), pressed: make(chan string, 1), hungUp: make(chan struct{})}
}

func (p *handset) Traits() phone.Traits     { return phone.Traits{Rate: 24_000} }
func (p *handset) Send([]int16, bool) error { return nil }
func (p *handset) HangUp()                  { p.once.Do(func() { close(p.hungUp) }) }
func (p *handset) Trunk() string            { return "desk" }
func (p *handset) Number() string           { return "4930123" }
func (p *handset) Peer() netip.Addr         { return netip.MustParseAddr("192.0.2.1") }
func (p *handset) Headers() [][2]string     { return [][2]string{{"From", "<sip:caller@192.0.2.1>"}} }

func (p *handset) Accept(l *phone.Link) error {
	if p.fails == nil {
		l.Begin()
	}
	p.accepted <- l
	return p.fails
}

func (p *handset) Reject(status int) error {
	p.rejected <- status
	return nil
}

func (p *handset) Refer(_ context.Context, target string) error {
	p.referred <- target
	return nil
}

func (p *handset) Press(keys string) error {
	if keys == "0" {
		return errors.New("the telephone takes no keys")
	}
	p.pressed <- keys
	return nil
}

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// hooked returns a plan whose webhook passes on the ids of the calls.
func hooked(d *harness) (plan telephones.Plan, ids chan string) {
	ids = make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct {
			Type string `json:"type"`
			Data struct {
				CallID  string              `json:"call_id"`
				Headers []map[string]string `json:"sip_headers"`
			} `json:"data"`
		}
		body, _ := io.ReadAll(r.Body)
		if json.Unmarshal(body, &e) == nil && e.Type == "realtime.call.incoming" && e.Data.Headers[0]["name"] == "From" {
			ids <- e.Data.CallID
		}
	}))
	d.t.Cleanup(receiver.Close)
	hook, err := webhook.New(receiver.URL, hookSecret, 0)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	return telephones.Plan{Principal: "house", Webhook: hook, Refer: []string{"tel:+4930*"}}, ids
}

// rings has a telephone ring, and returns the id of its call and when nothing of it is left.
func rings(d *harness, ctx context.Context, p *handset, plan telephones.Plan) (over chan struct{}) {
	over = make(chan struct{})
	go func() {
		defer close(over)
		d.h.Ring(ctx, p, plan)
	}()
	return over
}

func (d *harness) decides(id, what, body string) *httptest.ResponseRecorder {
	return d.ask(http.MethodPost, "/v1/realtime/calls/"+id+"/"+what, strings.NewReader(body), "Authorization", "Bearer "+key)
}

func TestWebhookDecides(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	plan, ids := hooked(d)
	plan.Principal = principalOf(d)
	p := newHandset()
	over := rings(d, t.Context(), p, plan)
	id := <-ids
	d.refused(d.decides(id, "accept", `{"type":"realtime","instructions":1}`), http.StatusBadRequest, wire.CodeInvalidType, "want a string")
	d.refused(d.decides(id, "accept", ""), http.StatusBadRequest, "missing_field", "session object")
	d.refused(d.decides(id, "reject", `{"status_code":200}`), http.StatusBadRequest, wire.CodeInvalidValue, "400 to 699")
	d.refused(d.decides(id, "refer", `{"target_uri":"tel:+49301"}`), http.StatusConflict, "call_not_accepted", "accept it")
	d.refused(d.decides(id, "keys", `{"digits":"1"}`), http.StatusConflict, "call_not_accepted", "accept it")
	d.g.Expect(d.decides(id, "accept", `{"type":"realtime","instructions":"Be short."}`).Code).To(gomega.Equal(http.StatusOK))
	l := <-p.accepted
	d.refused(d.decides(id, "accept", `{"type":"realtime"}`), http.StatusConflict, "decision_already_made", "already")
	d.refused(d.decides(id, "reject", ""), http.StatusConflict, "decision_already_made", "already")

	control := d.connect(d.serve()+"/v1/realtime?call_id="+id, key)
	created, _ := control.first().(*wire.SessionCreated)
	d.g.Expect(created.Session.Instructions).To(gomega.Equal("Be short."))
	d.refused(d.decides(id, "refer", `{"target_uri":"tel:+1900"}`), http.StatusForbidden, "target_not_allowed", "pattern")
	d.refused(d.decides(id, "refer", `{"target_uri":"tel:+4930>\r\nX: y"}`), http.StatusBadRequest, wire.CodeInvalidValue, "want an address")
	for _, target := range []string{"sip:a@evil.com;x=b@example.org", "sip:a@evil.com?x=@example.org", "sip:a@example.org?Replaces=x", "tel:+4930\\u0000"} {
		d.refused(d.decides(id, "refer", `{"target_uri":"`+target+`"}`), http.StatusBadRequest, wire.CodeInvalidValue, "want an address")
	}
	for _, body := range []string{``, `{"digits":""}`, `{"digits":"12 3"}`} {
		d.refused(d.decides(id, "keys", body), http.StatusBadRequest, wire.CodeInvalidValue, "0 to 9")
	}
	d.refused(d.decides(id, "keys", `{"digits":"0"}`), http.StatusConflict, "keys_not_sent", "takes no keys")
	d.g.Expect(d.decides(id, "keys", `{"digits":"12#"}`).Code).To(gomega.Equal(http.StatusOK))
	d.g.Expect(<-p.pressed).To(gomega.Equal("12#"))
	d.g.Expect(d.decides(id, "refer", `{"target_uri":"tel:+49301"}`).Code).To(gomega.Equal(http.StatusOK))
	d.g.Expect(<-p.referred).To(gomega.Equal("tel:+49301"))
	l.Ended(link.ErrHungUp)
	<-p.hungUp
	<-over
	d.refused(d.decides(id, "refer", `{"target_uri":"tel:+49301"}`), http.StatusNotFound, "no_sip_call", "has ended")
}

func TestWebhookRejects(t *testing.T) {
	for name, c := range map[string]struct {
		what, body string
		status     int
	}{
		"declined": {"reject", "", 603},
		"busy":     {"reject", `{"status_code":486}`, 486},
		"hung up":  {"hangup", "", 603},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, nil)
			plan, ids := hooked(d)
			plan.Principal = ""
			p := newHandset()
			over := rings(d, t.Context(), p, plan)
			d.g.Expect(d.decides(<-ids, c.what, c.body).Code).To(gomega.Equal(http.StatusOK))
			d.g.Expect(<-p.rejected).To(gomega.Equal(c.status))
			<-over
		})
	}
}

// A webhook that takes no events refuses the call; a caller that gives up leaves nothing behind.
func TestNobodyDecides(t *testing.T) {
	d := open(t, nil)
	broken := httptest.NewServer(http.NotFoundHandler())
	defer broken.Close()
	hook, err := webhook.New(broken.URL, hookSecret, 0)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	p := newHandset()
	<-rings(d, t.Context(), p, telephones.Plan{Webhook: hook})
	d.g.Expect(<-p.rejected).To(gomega.Equal(480))

	plan, ids := hooked(d)
	plan.Principal = ""
	ctx, cancel := context.WithCancel(t.Context())
	over := rings(d, ctx, newHandset(), plan)
	id := <-ids
	cancel()
	<-over
	d.refused(d.decides(id, "accept", `{"type":"realtime"}`), http.StatusNotFound, "no_sip_call", "has ended")
	d.g.Expect(d.h.phones.Find(id)).To(gomega.BeNil())
}

// Without a webhook the session of the number answers. A caller that does not confirm the call ends it.
func TestConfigurationAnswers(t *testing.T) {
	for name, fails := range map[string]error{"confirmed": nil, "not confirmed": errors.New("no ACK")} {
		t.Run(name, func(t *testing.T) {
			d := open(t, nil)
			p := newHandset()
			p.fails = fails
			over := rings(d, t.Context(), p, telephones.Plan{Session: json.RawMessage(`{"instructions":"Be kind."}`)})
			l := <-p.accepted
			if fails == nil {
				now, _ := d.h.Calls()
				d.g.Expect(now).To(gomega.Equal(1))
				l.Ended(link.ErrHungUp)
			}
			<-p.hungUp
			<-over
			d.g.Eventually(func() int { now, _ := d.h.Calls(); return now }, time.Minute).Should(gomega.BeZero())
		})
	}
}

// A server without room refuses the telephone.
func TestNoRoomForTheTelephone(t *testing.T) {
	d := open(t, nil)
	d.g.Expect(d.h.Drain(t.Context(), 0)).To(gomega.Succeed())
	p := newHandset()
	<-rings(d, t.Context(), p, telephones.Plan{})
	d.g.Expect(<-p.rejected).To(gomega.Equal(503))
}

func principalOf(d *harness) string {
	for _, k := range d.h.cfg.Keys {
		return k.Name
	}
	return ""
}

// callee is a telephone that the server calls. The test says what it does.
type callee struct {
	*handset
	does  chan string
	links chan *phone.Link
}

func (c *callee) Place(l *phone.Link, rings time.Duration, news func(state string, status int)) {
	c.links <- l
	for {
		select {
		case state := <-c.does:
			news(state, 1)
			if state == "answered" {
				l.Begin()
			} else if state != "ringing" {
				l.Ended(link.ErrHungUp)
				return
			}
		case <-c.hungUp:
			return
		case <-time.After(rings):
			l.Ended(link.ErrHungUp)
			return
		}
	}
}

// outbound is a server that calls a telephone of the test over the trunk desk.
func outbound(t *testing.T) (d *harness, c *callee, reports chan string) {
	t.Helper()
	c, reports = &callee{newHandset(), make(chan string, 8), make(chan *phone.Link, 8)}, make(chan string, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reports <- string(body)
	}))
	t.Cleanup(receiver.Close)
	hook, err := webhook.New(receiver.URL, hookSecret, 0)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	d = open(t, func(cfg *Config) {
		cfg.Keys = keys(t)
		cfg.Out = telephones.Out{
			Outlets: []phones.Outlet{{Trunk: "desk", Principals: []string{cfg.Keys[0].Name}, Allow: []string{"+4930*"}, Calls: 1, Rings: time.Minute}, {Trunk: "other", Principals: []string{"nobody"}, Allow: []string{"*"}}},
			Dial: func(_, _ string) (telephones.Outgoing, error) {
				c.handset = newHandset()
				return &callee{c.handset, c.does, c.links}, nil
			}, Webhook: hook,
		}
	})
	return d, c, reports
}

func (d *harness) places(body string) *httptest.ResponseRecorder {
	return d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(body), "Content-Type", "application/json", "Authorization", "Bearer "+key)
}

const bakery = `{"target_uri":"tel:+4930123","trunk":"desk","session":{"type":"realtime","instructions":"Be kind."},"greeting":"Hello"}`

// A program has the server call a telephone, and follows the call from the side.
func TestCallOut(t *testing.T) {
	d, c, reports := outbound(t)
	c.does <- "ringing"
	w := d.places(bakery)
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusCreated), w.Body.String())
	var placed telephones.Placed
	d.g.Expect(json.Unmarshal(w.Body.Bytes(), &placed)).To(gomega.Succeed())
	d.g.Expect(placed.State).To(gomega.Equal("ringing"))
	d.g.Expect(w.Header().Get("Location")).To(gomega.Equal("/v1/realtime/calls/" + placed.ID))
	d.refused(d.places(bakery), http.StatusTooManyRequests, "too_many_calls", "at a time")
	d.refused(d.decides(placed.ID, "accept", `{"type":"realtime"}`), http.StatusConflict, "decision_already_made", "already")

	control := d.connect(d.serve()+"/v1/realtime?call_id="+placed.ID, key)
	created, _ := control.first().(*wire.SessionCreated)
	d.g.Expect(created.Session.Instructions).To(gomega.Equal("Be kind."))
	control.send(`{"type":"antiphon.hello"}`)
	progress := func(state string) {
		e, _ := control.next("antiphon.call.progress").(*wire.AntiphonCallProgress)
		d.g.Expect(e.State).To(gomega.Equal(state))
	}
	progress("ringing")
	c.does <- "answered"
	progress("answered")
	done, _ := control.next("response.done").(*wire.ResponseDone)
	d.g.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal("Hello"))
	for _, state := range []string{"ringing", "answered"} {
		d.g.Eventually(reports, time.Minute).Should(gomega.Receive(gomega.And(gomega.ContainSubstring(`"type":"antiphon.call.progress"`), gomega.ContainSubstring(state))))
	}
	(<-c.links).Ended(link.ErrHungUp)
	<-c.hungUp
	d.g.Eventually(func() int { w := d.places(`{"target_uri":"+49301","trunk":"desk"}`); return w.Code }, time.Minute).ShouldNot(gomega.Equal(http.StatusTooManyRequests))
}

func TestCallOutThatIsRefused(t *testing.T) {
	d, c, _ := outbound(t)
	for _, state := range []string{"busy", "declined", "no_answer", "failed"} {
		c.does <- state
		w := d.places(bakery)
		for w.Code == http.StatusTooManyRequests { // the call before gives its place back soon after it has ended
			w = d.places(bakery)
		}
		d.refused(w, http.StatusConflict, "call_"+state, "not answered")
		d.g.Eventually(func() int { now, _ := d.h.Calls(); return now }, time.Minute).Should(gomega.BeZero())
	}
	for _, wrong := range []struct {
		body, code, says string
		status           int
	}{
		{`{"trunk":"desk"}`, wire.CodeInvalidValue, "want a number", http.StatusBadRequest},
		{`{"target_uri":"sip:a@b;c","trunk":"desk"}`, wire.CodeInvalidValue, "want a number", http.StatusBadRequest},
		{`{"target_uri":"+49900123","trunk":"desk"}`, "target_not_allowed", "pattern", http.StatusForbidden},
		{`{"target_uri":"+4930123","trunk":"other"}`, "trunk_not_allowed", "out:", http.StatusForbidden},
		{`{"target_uri":"+4930123","trunk":"none"}`, "trunk_not_allowed", "out:", http.StatusForbidden},
		{`{"target_uri":"+4930123","trunk":"desk","greeting":"` + strings.Repeat("x", 5000) + `"}`, wire.CodeInvalidValue, "too long", http.StatusBadRequest},
		{`{"target_uri":"+4930123","trunk":"desk","session":{"instructions":1}}`, wire.CodeInvalidType, "want a string", http.StatusBadRequest},
		{`[`, wire.CodeInvalidValue, "no JSON", http.StatusBadRequest},
	} {
		d.refused(d.places(wrong.body), wrong.status, wrong.code, wrong.says)
	}
	w := d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(bakery), "Content-Type", "application/json", "Authorization", "Bearer "+d.secret(`{}`))
	d.refused(w, http.StatusForbidden, "client_secret_not_allowed", "API key")
	d.g.Expect(c.links).To(gomega.HaveLen(4), "no other call was placed")
}
