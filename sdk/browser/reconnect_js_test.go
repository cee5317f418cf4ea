package browser

// Tests of ICE restarts and of a peer that replaces another one, in a fake browser.

import (
	"context"
	"errors"
	"syscall/js"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

// keeps makes the fake server keep conversations for a reconnect.
func (p *page) keeps() {
	p.set("headers", object(
		"Antiphon-Version", "1", "Location", "/v1/realtime/calls/rtc_1", "Antiphon-Resume", "T", "Antiphon-Resume-Seen", "client_7",
	))
}

func TestACallIsRestarted(t *testing.T) {
	p := newPage(t)
	p.keeps()
	call := p.dial(Options{URL: "https://voice.example", Key: "secret"}, sdk.CallConfig{})
	pc := p.last("connections")
	pc.Call("state", "disconnected")
	p.expect(sdk.PeerLost{})
	p.set("status", 200)
	p.set("body", "another answer")
	done := make(chan error, 1)
	go func() { done <- call.Restart(t.Context()) }()
	p.g.Eventually(func() string { return text(pc.Get("remote"), "sdp") }).Should(gomega.Equal("another answer"))
	request := p.last("requests")
	p.g.Expect(text(request, "url")).To(gomega.Equal("https://voice.example/v1/realtime/calls/rtc_1/restart"))
	p.g.Expect(text(request, "body")).To(gomega.Equal("the offer again"))
	p.g.Expect(text(request.Get("headers"), "Authorization")).To(gomega.Equal("Bearer secret"))
	p.g.Consistently(done, "150ms").ShouldNot(gomega.Receive(), "the new way does not carry yet")
	pc.Call("state", "connected")
	p.g.Eventually(done).Should(gomega.Receive(gomega.BeNil()))
	p.expect(sdk.PeerRestored{})
}

// TestTheServerIsAskedForTheCall: with an empty offer, and only a 404 says that it is lost.
func TestTheServerIsAskedForTheCall(t *testing.T) {
	p := newPage(t)
	p.keeps()
	call := p.dial(Options{URL: "https://voice.example", Key: "secret"}, sdk.CallConfig{})
	for status, lost := range map[int]bool{400: false, 404: true, 409: false, 503: false} {
		p.set("status", status)
		p.g.Expect(call.Lost(t.Context())).To(gomega.Equal(lost), "status %d", status)
		request := p.last("requests")
		p.g.Expect(text(request, "url")).To(gomega.Equal("https://voice.example/v1/realtime/calls/rtc_1/restart"))
		p.g.Expect(text(request, "body")).To(gomega.BeEmpty())
		p.g.Expect(text(request.Get("headers"), "Authorization")).To(gomega.Equal("Bearer secret"))
	}
}

// received makes the fake browser say how many packets of the agent have come.
func (p *page) received(packets int) {
	stats := js.Global().Get("Array").New(object("id", "t", "type", "transport"), object("id", "a", "type", "inbound-rtp", "packetsReceived", packets))
	p.set("stats", stats)
}

func TestPacketsAreCounted(t *testing.T) {
	p := newPage(t)
	p.received(0)
	p.dial(Options{}, sdk.CallConfig{})
	p.last("connections").Call("fire", "track", p.fake.Call("remote"))
	p.received(7)
	p.expect(sdk.PacketsCounted{Received: 7})
	p.received(20)
	p.expect(sdk.PacketsCounted{Received: 20})
	p.expect(sdk.PacketsCounted{Received: 20})
}

// TestPacketsOfAnotherServer: a server that is no Antiphon may send no packet while the agent is silent.
func TestPacketsOfAnotherServer(t *testing.T) {
	p := newPage(t)
	p.set("headers", object())
	p.received(7)
	p.dial(Options{}, sdk.CallConfig{})
	p.last("connections").Call("fire", "track", p.fake.Call("remote"))
	p.g.Consistently(p.events, "300ms").ShouldNot(gomega.Receive(gomega.BeAssignableToTypeOf(sdk.PacketsCounted{})))
}

// TestARestartWaitsForPackets: the browser takes a connection for connected until it has noticed that its network path is dead.
func TestARestartWaitsForPackets(t *testing.T) {
	p := newPage(t)
	p.keeps()
	call := p.dial(Options{}, sdk.CallConfig{})
	pc := p.last("connections")
	pc.Call("state", "connected")
	pc.Call("fire", "track", p.fake.Call("remote"))
	p.received(7)
	p.expect(sdk.PacketsCounted{Received: 7})
	done := make(chan error, 1)
	go func() { done <- call.Restart(t.Context()) }()
	p.g.Eventually(func() int { return p.fake.Get("requests").Length() }).Should(gomega.Equal(2))
	p.g.Consistently(done, "150ms").ShouldNot(gomega.Receive(), "no packet has come")
	p.received(8)
	p.g.Eventually(done).Should(gomega.Receive(gomega.BeNil()))
}

func TestARestartThatFails(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(p *page)
		want    error
	}{
		"the server is away":           {func(p *page) { p.set("unreachable", true) }, sdk.ErrServerGone},
		"the call is not there":        {func(p *page) { p.set("status", 404) }, sdk.ErrRefused},
		"its answer is no answer":      {func(p *page) { p.set("status", 200); p.set("body", "garbage") }, sdk.ErrServerGone},
		"nobody waits for it any more": {func(p *page) { p.set("hangs", true) }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			p.keeps()
			call := p.dial(Options{}, sdk.CallConfig{})
			row.prepare(p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- call.Restart(ctx) }()
			p.g.Eventually(func() int { return p.fake.Get("requests").Length() }).Should(gomega.Equal(2))
			if errors.Is(row.want, context.Canceled) {
				cancel()
			}
			p.g.Eventually(done).Should(gomega.Receive(gomega.MatchError(row.want)))
		})
	}
	t.Run("the server knows none", func(t *testing.T) {
		p := newPage(t)
		p.set("headers", object())
		p.g.Expect(p.dial(Options{}, sdk.CallConfig{}).Restart(t.Context())).To(gomega.MatchError(sdk.ErrUnavailable))
		p.g.Expect(p.fake.Get("requests").Length()).To(gomega.Equal(1))
	})
}

func TestACallGoesOnWithAnother(t *testing.T) {
	p := newPage(t)
	p.keeps()
	first := p.dial(Options{}, sdk.CallConfig{})
	p.g.Expect(first.Resumption()).To(gomega.Equal(sdk.Resumption{Token: "T", Seen: "client_7"}))
	firstPC := p.last("connections")
	firstPC.Call("fire", "track", p.fake.Call("remote"))
	firstPC.Call("state", "failed")
	p.expect(sdk.PeerBroken{Err: sdk.ErrServerGone})

	asked := p.fake.Get("asked").Length()
	second := p.dial(Options{}, sdk.CallConfig{Resume: sdk.Resume{Token: "T", After: "event_9"}, From: first})
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	headers := p.last("requests").Get("headers")
	p.g.Expect(text(headers, "Antiphon-Resume")).To(gomega.Equal("T"))
	p.g.Expect(text(headers, "Antiphon-Resume-After")).To(gomega.Equal("event_9"))
	p.g.Expect(second.Resumption()).To(gomega.Equal(sdk.Resumption{Token: "T", Resumed: true, Seen: "client_7"}))
	p.g.Expect(p.fake.Get("asked").Length()).To(gomega.Equal(asked), "the user is not asked again")

	heard := p.fake.Call("remote")
	p.last("connections").Call("fire", "track", heard)
	p.g.Expect(first.Close()).To(gomega.Succeed())
	p.g.Expect(p.audio.Get("srcObject").Equal(heard.Get("streams").Index(0))).To(gomega.BeTrue(), "the second is heard still")
	p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeFalse(), "the second's microphone is open still")
	p.g.Expect(second.Close()).To(gomega.Succeed())
	p.g.Expect(p.audio.Get("srcObject").IsNull()).To(gomega.BeTrue())
	for i := range p.fake.Get("tracks").Length() {
		p.g.Expect(p.fake.Get("tracks").Index(i).Get("stopped").Bool()).To(gomega.BeTrue(), "microphone %d", i)
	}
	p.g.Expect(p.fake.Get("listeners").Int()).To(gomega.BeZero())
}
