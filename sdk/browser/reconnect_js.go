package browser

// A connection that comes back: ICE restarts, and what a new peer takes over from the former one.

import (
	"context"
	"errors"
	"syscall/js"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Resumption implements sdk.Resumable.
func (p *peer) Resumption() sdk.Resumption { return p.kept }

// resumeHeaders returns the headers that name the conversation to go on with; undefined for a new one.
func resumeHeaders(r sdk.Resume) js.Value {
	if r.Token == "" {
		return js.Undefined()
	}
	return object("Antiphon-Resume", r.Token, "Antiphon-Resume-After", r.After)
}

// formerMicrophone takes the microphone of the peer that this one replaces; null when it has none.
func formerMicrophone(former sdk.Peer) js.Value {
	if p, ok := former.(*peer); ok {
		return p.page.Call("inherit")
	}
	return js.Null()
}

// answerTime is how long the server may take to answer a restart.
const answerTime = 3 * time.Second

// Restart implements sdk.Restarter.
func (p *peer) Restart(ctx context.Context) error {
	if p.closed || !p.antiphon || p.location == "" {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "no restart"}
	}
	told, err := p.requestRestart(ctx, false)
	if err != nil {
		return err
	}
	if _, err := await(ctx, p.page, "accept", told.Get("sdp")); err != nil {
		return badAnswer(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	_, err = await(ctx, p.page, "connected")
	if p.closed {
		return sdk.ErrServerGone
	}
	return err
}

// Lost implements sdk.Restarter. A browser does not say whether nothing listens at an address, so there is an answer only if a server gives one.
func (p *peer) Lost(ctx context.Context) bool {
	if p.closed || !p.antiphon || p.location == "" {
		return false
	}
	_, err := p.requestRestart(ctx, true)
	refused, is := errors.AsType[*sdk.RefusedError](err)
	return is && refused.Status == 404
}

// requestRestart asks the server for an ICE restart. With an empty offer, which the server refuses, it only asks whether the server has the call.
func (p *peer) requestRestart(ctx context.Context, empty bool) (js.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return answer(await(ctx, p.page, "restart", p.location, empty))
}
