package browser

// Calls over WebRTC in a fake browser: placing, devices, refusals, and the end.

import (
	"context"
	_ "embed"
	"os"
	"reflect"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

//go:embed testdata/browser.js
var fakeBrowser string

// page is a fake browser for one test.
type page struct {
	t      *testing.T
	g      *gomega.WithT
	fake   js.Value
	audio  js.Value
	events chan sdk.PeerEvent
}

func newPage(t *testing.T) *page {
	t.Helper()
	if !defined(js.Global().Get("fake")) {
		js.Global().Call("eval", fakeBrowser)
		js.Global().Call("eval", script(t))
		host = js.Global().Get("antiphonHost")
	}
	fake := js.Global().Get("fake")
	fake.Call("reset")
	return &page{
		t: t, g: gomega.NewWithT(t), fake: fake, audio: fake.Call("audio"), events: make(chan sdk.PeerEvent, 1000),
	}
}

// script returns the page's script (sdk/npm/standalone.js) as one text without imports and exports.
func script(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"begin", "answer", "base_peer", "peer", "socket", "host"} {
		source, err := os.ReadFile("../npm/" + name + ".js")
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		for line := range strings.Lines(string(source)) {
			if !strings.HasPrefix(line, "import ") {
				all.WriteString(strings.TrimPrefix(line, "export "))
			}
		}
	}
	return `"use strict"; { ` + all.String() + `; globalThis.antiphonHost = { ...host, begin, bearer, microphone, offered, post, refused } }`
}

func (p *page) set(name string, value any) { p.fake.Set(name, value) }

// fails makes the next requests for the microphone fail with these errors.
func (p *page) fails(names ...string) {
	for _, n := range names {
		p.fake.Get("microphone").Call("push", n)
	}
}

func (p *page) last(list string) js.Value { return p.fake.Get(list).Call("at", -1) }

func (p *page) sink(e sdk.PeerEvent) {
	if _, ok := e.(sdk.LevelsMeasured); !ok {
		p.events <- e
	}
}

// expect waits for an event that equals want, and skips the events before it.
func (p *page) expect(want sdk.PeerEvent) {
	p.t.Helper()
	deadline := time.After(5 * time.Second)
	for {
		select {
		case got := <-p.events:
			if reflect.DeepEqual(got, want) {
				return
			}
		case <-deadline:
			p.t.Fatalf("no %#v", want)
		}
	}
}

// expectMicError waits for MicrophoneFailed with this error.
func (p *page) expectMicError(want error) {
	p.t.Helper()
	deadline := time.After(5 * time.Second)
	for {
		select {
		case got := <-p.events:
			if failed, ok := got.(sdk.MicrophoneFailed); ok {
				p.g.Expect(failed.Err).To(gomega.MatchError(want))
				return
			}
		case <-deadline:
			p.t.Fatalf("the microphone did not fail with %v", want)
		}
	}
}

func (p *page) dial(o Options, c sdk.CallConfig) *peer {
	p.t.Helper()
	o.Audio = p.audio
	called, err := New(o).Dial(p.t.Context(), c, p.sink)
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.t.Cleanup(func() { _ = called.Close() })
	return called.(*peer)
}

func TestACallIsPlacedAndCleanedUp(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{URL: "https://voice.example/", Key: "secret"}, sdk.CallConfig{Model: "a b", Speaker: "s1"})
	p.expect(sdk.MicrophoneAsked{})
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	p.expect(sdk.DevicesChanged{Devices: sdk.Devices{
		Microphones: []sdk.Device{{ID: "default", Label: "Default"}}, Speakers: []sdk.Device{{ID: "s1", Label: "Speakers"}},
	}})
	request := p.last("requests")
	p.g.Expect(request.Get("url").String()).To(gomega.Equal("https://voice.example/v1/realtime/calls?model=a%20b"))
	p.g.Expect(request.Get("body").String()).To(gomega.Equal("the offer"))
	p.g.Expect(request.Get("headers").Get("Authorization").String()).To(gomega.Equal("Bearer secret"))
	p.g.Expect(request.Get("headers").Get("Content-Type").String()).To(gomega.Equal("application/sdp"))
	p.g.Expect(call.Antiphon()).To(gomega.BeTrue())
	pc := p.last("connections")
	p.g.Expect(pc.Get("remote").Get("sdp").String()).To(gomega.Equal("the answer"))
	p.g.Expect(pc.Get("direction").String()).To(gomega.Equal("sendrecv"))
	p.g.Expect(pc.Get("channel").Get("label").String()).To(gomega.Equal("oai-events"))
	p.g.Expect(p.audio.Get("sinkId").String()).To(gomega.Equal("s1"))

	pc.Get("channel").Call("open")
	p.expect(sdk.PeerOpened{})
	pc.Get("channel").Call("fire", "message", object("data", `{"é":1}`))
	p.expect(sdk.Message{Data: []byte(`{"é":1}`)})
	p.g.Expect(call.Send([]byte(`{"ü":2}`))).To(gomega.Succeed())
	p.g.Expect(pc.Get("channel").Get("sent").Index(0).String()).To(gomega.Equal(`{"ü":2}`))

	p.g.Expect(call.Close()).To(gomega.Succeed())
	p.g.Expect(call.Close()).To(gomega.Succeed())
	p.g.Expect(p.fake.Get("listeners").Int()).To(gomega.BeZero())
	p.g.Expect(pc.Get("closed").Bool()).To(gomega.BeTrue())
	p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeTrue())
	p.g.Expect(text(p.last("contexts"), "state")).To(gomega.Equal("closed"))
	p.g.Expect(p.audio.Get("srcObject").IsNull()).To(gomega.BeTrue())
	p.g.Expect(call.Send(nil)).To(gomega.MatchError(sdk.ErrServerGone))
	p.g.Expect(call.SetMicrophone(t.Context(), "")).To(gomega.MatchError(sdk.ErrClosed))
}

func TestTheCallGoesOnWithoutAMicrophone(t *testing.T) {
	for name, want := range map[string]error{
		"NotAllowedError":      sdk.ErrPermission,
		"SecurityError":        sdk.ErrPermission,
		"NotFoundError":        sdk.ErrNoMicrophone,
		"OverconstrainedError": sdk.ErrNoMicrophone,
		"NotReadableError":     sdk.ErrMicrophoneBusy,
		"AbortError":           sdk.ErrMicrophoneBusy,
		"TypeError":            sdk.ErrUnsupported,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			p.fails(name)
			p.dial(Options{}, sdk.CallConfig{})
			p.expect(sdk.MicrophoneAsked{})
			p.expectMicError(want)
			p.g.Expect(p.fake.Get("requests").Length()).To(gomega.Equal(1))
		})
	}
}

func TestAMissingDeviceIsReplacedByTheDefault(t *testing.T) {
	p := newPage(t)
	p.fails("OverconstrainedError", "")
	p.dial(Options{}, sdk.CallConfig{Microphone: "old"})
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	p.g.Expect(p.fake.Get("asked").Call("join").String()).To(gomega.Equal("old,"))
}

func TestAPageWithoutDevicesIsForText(t *testing.T) {
	p := newPage(t)
	js.Global().Get("navigator").Set("mediaDevices", js.Undefined())
	call := p.dial(Options{}, sdk.CallConfig{})
	p.expectMicError(sdk.ErrUnsupported)
	p.expect(sdk.DevicesChanged{})
	p.g.Expect(call.Close()).To(gomega.Succeed())
}

func TestACallForTextAsksForNoMicrophone(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{}, sdk.CallConfig{NoMicrophone: true})
	p.g.Expect(p.fake.Get("asked").Length()).To(gomega.BeZero())
	// The call may open a microphone later.
	p.g.Expect(call.SetMicrophone(t.Context(), "m2")).To(gomega.Succeed())
	p.expect(sdk.MicrophoneOpened{ID: "m2"})
	p.g.Expect(text(p.last("connections").Get("sender").Get("track"), "id")).To(gomega.Equal("m2"))
}

func TestAnAllowedMicrophoneDoesNotDelayTheCall(t *testing.T) {
	p := newPage(t)
	p.set("permission", "granted")
	p.dial(Options{}, sdk.CallConfig{})
	p.expect(sdk.MicrophoneOpened{ID: "default"})
}

func TestWithoutWebRTCThereIsNoCall(t *testing.T) {
	p := newPage(t)
	p.g.Expect(Supported()).To(gomega.Succeed())
	js.Global().Set("RTCPeerConnection", js.Undefined())
	_, err := New(Options{Audio: p.audio}).Dial(t.Context(), sdk.CallConfig{}, p.sink)
	p.g.Expect(err).To(gomega.MatchError(sdk.ErrUnsupported))
}

func TestRefusalsSayWhy(t *testing.T) {
	for name, row := range map[string]struct {
		status     int
		body, want string
	}{
		"words":    {401, `{"error":{"message":"the key is wrong"}}`, "the key is wrong"},
		"no JSON":  {500, " broken ", "broken"},
		"other":    {503, `{"detail":1}`, `{"detail":1}`},
		"an array": {400, `[1]`, `[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			p.set("status", row.status)
			p.set("body", row.body)
			_, err := New(Options{Audio: p.audio}).Dial(t.Context(), sdk.CallConfig{}, p.sink)
			p.g.Expect(err).To(gomega.Equal(&sdk.RefusedError{Status: row.status, Message: row.want}))
			p.g.Expect(p.fake.Get("listeners").Int()).To(gomega.BeZero())
			p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeTrue())
		})
	}
}

func TestNoServer(t *testing.T) {
	for name, prepare := range map[string]func(*page){
		"unreachable":      func(p *page) { p.set("unreachable", true) },
		"answers nonsense": func(p *page) { p.set("body", "garbage") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			prepare(p)
			_, err := New(Options{Audio: p.audio}).Dial(t.Context(), sdk.CallConfig{}, p.sink)
			p.g.Expect(err).To(gomega.MatchError(sdk.ErrServerGone))
		})
	}
}

func TestADialIsGivenUp(t *testing.T) {
	p := newPage(t)
	p.set("hangs", true)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := New(Options{Audio: p.audio}).Dial(ctx, sdk.CallConfig{}, p.sink)
		done <- err
	}()
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	p.g.Eventually(func() int { return p.fake.Get("requests").Length() }).Should(gomega.Equal(1))
	cancel()
	p.g.Expect(<-done).To(gomega.MatchError(context.Canceled))
	p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeTrue())
}

func TestTheConnectionIsLostAndRestoredAndEnds(t *testing.T) {
	p := newPage(t)
	p.dial(Options{}, sdk.CallConfig{})
	pc := p.last("connections")
	pc.Call("state", "connected")
	pc.Call("state", "disconnected")
	p.expect(sdk.PeerLost{})
	pc.Call("state", "connected")
	p.expect(sdk.PeerRestored{})
	pc.Call("state", "failed")
	p.expect(sdk.PeerBroken{Err: sdk.ErrServerGone})
	pc.Get("channel").Call("fire", "close")
	p.expect(sdk.PeerEnded{Err: sdk.ErrServerGone})
}

func TestSoundWaitsForAGesture(t *testing.T) {
	p := newPage(t)
	p.set("playThrows", "NotAllowedError")
	call := p.dial(Options{}, sdk.CallConfig{})
	p.last("contexts").Set("state", "suspended")
	call.ResumeSound() // nothing to play yet
	p.g.Expect(p.audio.Get("plays").Int()).To(gomega.BeZero())
	p.last("connections").Call("fire", "track", p.fake.Call("remote"))
	p.expect(sdk.SoundBlocked{Blocked: true})
	p.set("playThrows", "")
	call.ResumeSound()
	p.expect(sdk.SoundBlocked{Blocked: false})
	p.g.Expect(text(p.last("contexts"), "state")).To(gomega.Equal("running"))
	p.last("connections").Call("fire", "track", p.fake.Call("remoteWithoutStream"))
	p.expect(sdk.SoundBlocked{Blocked: false})
}

func TestTheMicrophoneIsChanged(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{}, sdk.CallConfig{Muted: true})
	first := p.last("tracks")
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	p.g.Expect(call.SetMicrophone(t.Context(), "m2")).To(gomega.Succeed())
	p.expect(sdk.MicrophoneOpened{ID: "m2"})
	second := p.last("tracks")
	p.g.Expect(first.Get("stopped").Bool()).To(gomega.BeTrue())
	p.g.Expect(second.Get("enabled").Bool()).To(gomega.BeFalse(), "it stays muted")

	p.fails("NotReadableError")
	p.g.Expect(call.SetMicrophone(t.Context(), "m3")).To(gomega.MatchError(sdk.ErrMicrophoneBusy))
	p.g.Expect(second.Get("stopped").Bool()).To(gomega.BeFalse(), "the old one stays in use")

	p.set("replaceThrows", true)
	p.g.Expect(call.SetMicrophone(t.Context(), "m4")).To(gomega.MatchError(sdk.ErrMicrophoneBusy))
	p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeTrue())
	p.set("replaceThrows", false)

	second.Call("fire", "ended") // the device was unplugged
	p.expect(sdk.MicrophoneOpened{ID: "default"})
	p.fails("NotFoundError")
	p.last("tracks").Call("fire", "ended")
	p.expectMicError(sdk.ErrNoMicrophone)
}

func TestAGivenStreamIsUsedAndNotStopped(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{Stream: p.fake.Call("stream")}, sdk.CallConfig{})
	p.expect(sdk.MicrophoneOpened{ID: "given"})
	p.g.Expect(call.Close()).To(gomega.Succeed())
	p.g.Expect(p.last("tracks").Get("stopped").Bool()).To(gomega.BeFalse())
	p.g.Expect(p.fake.Get("asked").Length()).To(gomega.BeZero())

	p.dial(Options{Stream: p.fake.Call("emptyStream")}, sdk.CallConfig{})
	p.expectMicError(sdk.ErrNoMicrophone)
}

func TestTheSpeakerIsChosen(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{}, sdk.CallConfig{})
	p.g.Expect(call.SetSpeaker(t.Context(), "s1")).To(gomega.Succeed())
	p.g.Expect(call.SetSpeaker(t.Context(), "gone")).NotTo(gomega.Succeed())
	p.audio.Set("setSinkId", js.Undefined())
	p.g.Expect(call.SetSpeaker(t.Context(), "s1")).To(gomega.MatchError(sdk.ErrUnavailable))
	devices, err := call.dialer.Devices(t.Context())
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(devices.Speakers).To(gomega.BeEmpty())
}

func TestAFullSendBufferIsAnError(t *testing.T) {
	p := newPage(t)
	call := p.dial(Options{}, sdk.CallConfig{})
	p.g.Expect(call.Send([]byte("{}"))).To(gomega.MatchError(sdk.ErrServerGone), "it is not open yet")
	channel := p.last("connections").Get("channel")
	channel.Call("open")
	p.set("sendThrows", true)
	p.g.Expect(call.Send([]byte("{}"))).To(gomega.MatchError(sdk.ErrServerGone))
	channel.Set("bufferedAmount", maxBuffered)
	p.g.Expect(call.Send([]byte("{}"))).To(gomega.MatchError(sdk.ErrOverrun))
}

func TestThePipelineIsAskedFor(t *testing.T) {
	p := newPage(t)
	p.set("status", 200)
	p.set("body", `{"pipeline":"embedded","components":[{"stage":"synthesis","name":"flite","state":"missing","detail":"not found","install":"apt-get install flite"}]}`)
	d := New(Options{Audio: p.audio})
	d.SetKey("k")
	told, err := d.Pipeline(t.Context())
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(told).To(gomega.Equal(sdk.Pipeline{Name: "embedded", Components: []sdk.Component{
		{Stage: "synthesis", Name: "flite", State: "missing", Detail: "not found", Install: "apt-get install flite"},
	}}))
	p.g.Expect(p.last("requests").Get("headers").Get("Authorization").String()).To(gomega.Equal("Bearer k"))
	for _, body := range []string{"nonsense", `{"pipeline":7}`, `[]`, `null`} {
		p.set("body", body)
		told, err = d.Pipeline(t.Context())
		p.g.Expect(told.Components).To(gomega.BeEmpty())
		p.g.Expect(err != nil).To(gomega.Equal(body == "nonsense"), body)
	}
}

func TestASessionOnTheBrowser(t *testing.T) {
	p := newPage(t)
	s, err := sdk.New(sdk.Options{Dialer: New(Options{Audio: p.audio})})
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	connected := make(chan error)
	go func() { connected <- s.Connect(t.Context()) }()
	p.g.Eventually(func() int { return p.fake.Get("requests").Length() }).Should(gomega.Equal(1))
	channel := p.last("connections").Get("channel")
	channel.Call("open")
	created := wire.AppendServer(nil, &wire.SessionCreated{EventID: "e", Session: wire.DefaultSession()})
	channel.Call("fire", "message", object("data", string(created)))
	p.g.Expect(<-connected).To(gomega.Succeed())
	p.g.Expect(s.SendText("hello")).To(gomega.Succeed())
	p.g.Expect(channel.Get("sent").Length()).To(gomega.BeNumerically(">=", 3))
	p.g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	p.g.Expect(p.fake.Get("listeners").Int()).To(gomega.BeZero())
}

// TestTheServersICEServersAreUsed checks that a call uses the STUN and TURN servers that the server names, unless the page has its own.
func TestTheServersICEServersAreUsed(t *testing.T) {
	for name, row := range map[string]struct {
		named string
		own   js.Value
		want  string
	}{
		"the server names none":    {named: "[]", want: "[]"},
		"the server names one":     {named: `[{"urls":["turn:a"]}]`, want: `[{"urls":["turn:a"]}]`},
		"the page has one already": {named: `[{"urls":["turn:a"]}]`, own: js.Global().Get("JSON").Call("parse", `[{"urls":"stun:b"}]`), want: `[{"urls":"stun:b"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			p.set("iceServers", row.named)
			p.dial(Options{ICEServers: row.own}, sdk.CallConfig{NoMicrophone: true})
			config := p.fake.Get("connections").Index(0).Get("config")
			p.g.Expect(js.Global().Get("JSON").Call("stringify", config.Get("iceServers")).String()).To(gomega.Equal(row.want))
		})
	}
}
