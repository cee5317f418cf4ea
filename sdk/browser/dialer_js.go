package browser

// Placing calls from a page: over WebRTC here, over a WebSocket in socket_js.go.

import (
	"context"
	"errors"
	"strings"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Dialer places calls over WebRTC. Make it with New.
type Dialer struct {
	opts  Options
	audio js.Value

	volume, gain float32 // the volume that the user has chosen, and the share of it that is played
	muted        bool
	volumeFixed  bool // only the device itself can set the volume
}

// New makes a dialer. Nothing is opened before Dial.
func New(o Options) *Dialer {
	d := &Dialer{opts: o, audio: o.Audio, volume: 1, gain: 1}
	if !defined(d.audio) {
		if document := js.Global().Get("document"); defined(document) {
			d.audio = document.Call("createElement", "audio")
		} else {
			d.audio = object()
		}
	}
	d.audio.Set("autoplay", true)
	return d
}

// worklet returns the address of the worklets' module.
func (d *Dialer) worklet() string {
	if d.opts.Worklet != "" {
		return d.opts.Worklet
	}
	return d.url() + "/antiphon-worklet.js"
}

// url returns the server's address without a slash at its end.
func (d *Dialer) url() string { return strings.TrimSuffix(d.opts.URL, "/") }

// SetKey changes the key for later calls and requests; empty means none.
func (d *Dialer) SetKey(key string) { d.opts.Key = key }

// TimeZone implements sdk.TimeZoner.
func (d *Dialer) TimeZone() string {
	format := js.Global().Get("Intl").Get("DateTimeFormat").New()
	if zone := format.Call("resolvedOptions").Get("timeZone"); zone.Type() == js.TypeString {
		return zone.String()
	}
	return ""
}

// Supported says why this browser or page cannot place calls: it wraps sdk.ErrUnsupported. Nil when it can.
func Supported() error {
	if !defined(host) {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "the page has not loaded antiphon-host.js"}
	}
	if js.Global().Get("RTCPeerConnection").Type() != js.TypeFunction {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "it has no WebRTC"}
	}
	return nil
}

// Dial implements sdk.Dialer. Where the browser will not ask the user, the microphone is opened while the server answers.
// Otherwise the microphone comes first, so that no call waits at the server for a click.
func (d *Dialer) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	if d.opts.WebSocket {
		return d.dialSocket(ctx, c, sink)
	}
	if err := Supported(); err != nil {
		return nil, err
	}
	p := newPeer(d, "peer", c, sink, nil)
	p.capture = newCapture(p.page, p.soundMeasured)
	if err := d.place(ctx, p, c); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// place exchanges descriptions with the server, and opens the microphone.
func (d *Dialer) place(ctx context.Context, p *peer, c sdk.CallConfig) error {
	stream := js.Null()
	if !c.NoMicrophone {
		stream = formerMicrophone(c.From)
	}
	if thrown := p.page.Call("begin", stream, resumeHeaders(c.Resume)); defined(thrown) {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Cause: errorOf(thrown)}
	}
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		if !c.NoMicrophone {
			p.openFirst(ctx, stream)
		}
	}()
	err := p.answered(ctx, c.Resume)
	if err == nil {
		go p.startCapture()
	}
	<-opened // it ends when ctx ends
	if err != nil {
		return err
	}
	go p.listDevices()
	if c.Speaker != "" {
		_ = p.SetSpeaker(ctx, c.Speaker) // on an error the default one plays
	}
	return ctx.Err()
}

// call returns what the page has to know to place a call: see sdk/npm/begin.js.
func (d *Dialer) call(c sdk.CallConfig) js.Value {
	o := object("url", d.url(), "key", d.opts.Key, "model", c.Model, "muted", c.Muted, "microphone", c.Microphone,
		"audio", d.audio, "mediaStream", d.opts.Stream, "iceServers", d.opts.ICEServers, "begun", d.opts.Begun)
	if c.NoMicrophone {
		o.Set("microphone", false)
	}
	d.opts.Begun = js.Undefined() // only the first call takes it over
	return o
}

// answered waits until the server has taken the call. asked is the conversation that the call goes on with.
func (p *peer) answered(ctx context.Context, asked sdk.Resume) error {
	told, err := answer(await(ctx, p.page, "answered"))
	if err != nil {
		return err
	}
	p.antiphon = told.Get("antiphon").Bool()
	p.location = text(told, "location")
	token := text(told, "token")
	p.kept = sdk.Resumption{Token: token, Resumed: asked.Token != "" && token == asked.Token, Seen: text(told, "seen")}
	_, err = await(ctx, p.page, "applied")
	return badAnswer(err)
}

// answer returns the page's report of a server's answer, or the error of an answer that is a refusal.
func answer(told js.Value, err error) (js.Value, error) {
	if err != nil {
		return told, unreachable(err, "")
	}
	if status := told.Get("status").Int(); status != 0 {
		return told, &sdk.RefusedError{Status: status, Message: text(told, "message")}
	}
	return told, nil
}

// unreachable returns err as sdk.ErrServerGone if the page has thrown it. Other errors, such as that of an ended context, stay
// as they are.
func unreachable(err error, detail string) error {
	if thrown, ok := errors.AsType[*jsError](err); ok {
		return &sdk.Error{Kind: sdk.ErrServerGone, Detail: detail, Cause: thrown}
	}
	return err
}

// badAnswer returns the error of a server's answer that the browser did not accept.
func badAnswer(err error) error { return unreachable(err, "its answer is not a description of a call") }

// pipeline asks the server for its pipeline.
func (d *Dialer) pipeline(ctx context.Context) (js.Value, error) {
	return answer(await(ctx, host, "pipeline", object("url", d.url(), "key", d.opts.Key)))
}

// Pipeline implements sdk.PipelineSource.
func (d *Dialer) Pipeline(ctx context.Context) (sdk.Pipeline, error) {
	var p sdk.Pipeline
	told, err := d.pipeline(ctx)
	if err != nil {
		return p, err
	}
	body := told.Get("body")
	if body.Type() != js.TypeObject {
		return p, nil
	}
	p.Name = text(body, "pipeline")
	list := body.Get("components")
	if list.Type() != js.TypeObject {
		return p, nil
	}
	for i := range list.Length() {
		one := list.Index(i)
		p.Components = append(p.Components, sdk.Component{
			Stage: text(one, "stage"), Name: text(one, "name"), State: text(one, "state"),
			Detail: text(one, "detail"), Install: text(one, "install"),
		})
	}
	return p, nil
}
