package browser

import (
	"context"
	"syscall/js"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Resumption implements sdk.Resumable.
func (p *peer) Resumption() sdk.Resumption { return p.kept }

// resuming are the headers that name the conversation to go on with.
func resuming(r sdk.Resume) js.Value {
	if r.Token == "" {
		return js.Undefined()
	}
	return object("Antiphon-Resume", r.Token, "Antiphon-Resume-After", r.After)
}

// inherited is the microphone of the peer that this one follows; null when it has none.
func inherited(former sdk.Peer) js.Value {
	if p, ok := former.(*peer); ok {
		return p.line.Call("inherit")
	}
	return js.Null()
}

// askTime is how long the server may take to answer a restart.
const askTime = 3 * time.Second

// Restart implements sdk.Restarter.
func (p *peer) Restart(ctx context.Context) error {
	if p.closed || !p.antiphon || p.location == "" {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "no restart"}
	}
	told, err := p.askAgain(ctx)
	if err != nil {
		return err
	}
	if _, err := ask(ctx, p.line, "accept", told.Get("sdp")); err != nil {
		return badAnswer(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	_, err = ask(ctx, p.line, "connected")
	if p.closed {
		return sdk.ErrServerGone
	}
	return err
}

func (p *peer) askAgain(ctx context.Context) (js.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return answer(ask(ctx, p.line, "restart", p.location))
}
