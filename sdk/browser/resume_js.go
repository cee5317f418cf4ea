package browser

import (
	"context"
	"syscall/js"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// header gives one of a response's headers, "" when it has none or the server does not let the page see it.
func header(response js.Value, name string) string {
	if v := response.Get("headers").Call("get", name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

// taken notes what the answer to a call says beside the description.
func (p *peer) taken(response js.Value, asked sdk.Resume) {
	p.antiphon = header(response, "Antiphon-Version") != ""
	p.location = header(response, "Location")
	token := header(response, "Antiphon-Resume")
	p.kept = sdk.Resumption{
		Token: token, Resumed: asked.Token != "" && token == asked.Token, Seen: header(response, "Antiphon-Resume-Seen"),
	}
}

// Resumption implements sdk.Resumable.
func (p *peer) Resumption() sdk.Resumption { return p.kept }

// resuming are the headers that name the conversation to go on with.
func resuming(r sdk.Resume) js.Value {
	headers := object()
	if r.Token != "" {
		headers.Set("Antiphon-Resume", r.Token)
		headers.Set("Antiphon-Resume-After", r.After)
	}
	return headers
}

// inherited is the microphone of the peer that this one follows; undefined when it has none. It is a copy: the other one goes on
// with its own until it is closed.
func inherited(former sdk.Peer) js.Value {
	p, ok := former.(*peer)
	if !ok || p.closed || !p.own || !defined(p.stream) || !defined(p.stream.Get("clone")) {
		return js.Undefined()
	}
	return p.stream.Call("clone")
}

const (
	// askTime is how long the server may take to answer a restart.
	askTime = 3 * time.Second
	// wayPause is between two looks at whether the connection stands.
	wayPause = 50 * time.Millisecond
)

// Restart implements sdk.Restarter.
func (p *peer) Restart(ctx context.Context) error {
	if p.closed || !p.antiphon || p.location == "" {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "no restart"}
	}
	offer, err := p.offer(ctx, object("iceRestart", true))
	if err != nil {
		return &sdk.Error{Kind: sdk.ErrServerGone, Detail: "the call could not be offered again", Cause: err}
	}
	answer, err := p.askAgain(ctx, offer)
	if err != nil {
		return err
	}
	if _, err := await(ctx, p.pc.Call("setRemoteDescription", object("type", "answer", "sdp", answer)), nil); err != nil {
		return badAnswer(err)
	}
	for text(p.pc, "connectionState") != "connected" {
		select {
		case <-time.After(wayPause):
		case <-p.ctx.Done():
			return sdk.ErrServerGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (p *peer) askAgain(ctx context.Context, offer string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	init := object("method", "POST", "body", offer)
	response, err := p.dialer.fetch(ctx, p.location+"/restart", init, "application/sdp")
	if err != nil {
		return "", err
	}
	told, err := await(ctx, response.Call("text"), nil)
	if err != nil {
		return "", gone(ctx, err)
	}
	return told.String(), nil
}
