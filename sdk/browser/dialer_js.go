package browser

import (
	"context"
	"strings"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Dialer places calls over WebRTC. Make it with New.
type Dialer struct {
	opts  Options
	audio js.Value

	volume, gain float32 // what the person has chosen, and how much of it is played
	silent       bool
	fixed        bool // only the device's volume can be set
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

// worklet is the address of the worklet's module.
func (d *Dialer) worklet() string {
	if d.opts.Worklet != "" {
		return d.opts.Worklet
	}
	return strings.TrimSuffix(d.opts.URL, "/") + "/antiphon-worklet.js"
}

// SetKey changes the key for the calls and questions to come; empty means none.
func (d *Dialer) SetKey(key string) { d.opts.Key = key }

// Supported says why this browser or page cannot place calls: it wraps sdk.ErrUnsupported. Nil when it can.
func Supported() error {
	if js.Global().Get("RTCPeerConnection").Type() != js.TypeFunction {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "it has no WebRTC"}
	}
	return nil
}

// Dial implements sdk.Dialer. Where the person will not be asked, the microphone is opened while the server answers; otherwise it
// comes first, so that no call waits at the server for a click.
func (d *Dialer) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	if d.opts.WebSocket {
		return d.dialSocket(ctx, c, sink)
	}
	if err := Supported(); err != nil {
		return nil, err
	}
	p, err := newPeer(d, c, sink)
	if err != nil {
		return nil, err
	}
	if err := d.place(ctx, p, c); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (d *Dialer) place(ctx context.Context, p *peer, c sdk.CallConfig) error {
	opened := make(chan struct{})
	heritage := js.Undefined()
	if !c.NoMicrophone {
		heritage = inherited(c.From)
	}
	go func() {
		defer close(opened)
		if !c.NoMicrophone {
			p.tell(sdk.MicrophoneAsked{})
			p.openFirst(ctx, c.Microphone, heritage)
		}
	}()
	if !c.NoMicrophone && !defined(p.begun) && !defined(heritage) && !microphoneAllowed(ctx) {
		<-opened
	}
	err := d.signal(ctx, p, c)
	if err == nil {
		go p.hark()
	}
	<-opened // ctx ends it
	if err != nil {
		return err
	}
	go p.listDevices()
	if c.Speaker != "" {
		_ = p.SetSpeaker(ctx, c.Speaker) // the default one plays then
	}
	return ctx.Err()
}

// signal exchanges descriptions with the server. The offer is posted at once, without candidates: the server learns them from the
// first packets.
func (d *Dialer) signal(ctx context.Context, p *peer, c sdk.CallConfig) error {
	if defined(p.begun) {
		return d.signalled(ctx, p)
	}
	offer, err := p.offer(ctx, object())
	if err != nil {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "the call could not be offered", Cause: err}
	}
	path := "/v1/realtime/calls"
	if c.Model != "" {
		path += "?model=" + js.Global().Call("encodeURIComponent", c.Model).String()
	}
	init := object("method", "POST", "body", offer, "headers", resuming(c.Resume))
	answer, err := d.fetch(ctx, path, init, "application/sdp")
	if err != nil {
		return err
	}
	p.taken(answer, c.Resume)
	sdp, err := await(ctx, answer.Call("text"), nil)
	if err != nil {
		return gone(ctx, err)
	}
	description := object("type", "answer", "sdp", sdp)
	if _, err := await(ctx, p.pc.Call("setRemoteDescription", description), nil); err != nil {
		return badAnswer(err)
	}
	return nil
}

// signalled waits for what the page's script has begun.
func (d *Dialer) signalled(ctx context.Context, p *peer) error {
	response, err := await(ctx, p.begun.Get("answer"), nil)
	if err != nil {
		return gone(ctx, err)
	}
	if response, err = accepted(ctx, response); err != nil {
		return err
	}
	p.taken(response, sdk.Resume{})
	if _, err := await(ctx, p.begun.Get("applied"), nil); err != nil {
		return badAnswer(err)
	}
	return nil
}

func badAnswer(err error) error {
	return &sdk.Error{Kind: sdk.ErrServerGone, Detail: "its answer is not a description of a call", Cause: err}
}

// fetch asks the server and gives its response when it is a good one.
func (d *Dialer) fetch(ctx context.Context, path string, init js.Value, contentType string) (js.Value, error) {
	headers := init.Get("headers")
	if !defined(headers) {
		headers = object()
	}
	if contentType != "" {
		headers.Set("Content-Type", contentType)
	}
	if d.opts.Key != "" {
		headers.Set("Authorization", "Bearer "+d.opts.Key)
	}
	init.Set("headers", headers)
	abort := js.Global().Get("AbortController").New()
	init.Set("signal", abort.Get("signal"))
	stop := context.AfterFunc(ctx, func() { abort.Call("abort") })
	defer stop()
	response, err := await(ctx, js.Global().Call("fetch", strings.TrimSuffix(d.opts.URL, "/")+path, init), nil)
	if err != nil {
		return js.Undefined(), gone(ctx, err)
	}
	return accepted(ctx, response)
}

// accepted gives the response back when it is a good one.
func accepted(ctx context.Context, response js.Value) (js.Value, error) {
	if response.Get("ok").Bool() {
		return response, nil
	}
	refused := &sdk.RefusedError{Status: response.Get("status").Int()}
	if body, err := await(ctx, response.Call("text"), nil); err == nil {
		refused.Message = message(body.String())
	}
	return js.Undefined(), refused
}

// gone says that the server cannot be reached, unless it is the caller who has given up.
func gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &sdk.Error{Kind: sdk.ErrServerGone, Cause: err}
}

// maxMessage bounds what is shown of a refusal, in bytes.
const maxMessage = 500

// message finds the words in the body of a refusal: those of {"error":{"message":…}}, or the body itself.
func message(body string) string {
	if parsed, err := call(js.Global().Get("JSON"), "parse", body); err == nil && parsed.Type() == js.TypeObject {
		if e := parsed.Get("error"); text(e, "message") != "" {
			body = text(e, "message")
		}
	}
	body = strings.TrimSpace(body)
	if len(body) > maxMessage {
		body = strings.ToValidUTF8(body[:maxMessage], "")
	}
	return body
}

// Pipeline implements sdk.PipelineSource.
func (d *Dialer) Pipeline(ctx context.Context) (sdk.Pipeline, error) {
	var p sdk.Pipeline
	response, err := d.fetch(ctx, "/v1/antiphon/pipeline", object(), "")
	if err != nil {
		return p, err
	}
	told, err := await(ctx, response.Call("json"), nil)
	if err != nil {
		return p, gone(ctx, err)
	}
	if told.Type() != js.TypeObject {
		return p, nil
	}
	p.Name = text(told, "pipeline")
	list := told.Get("components")
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
