package runsapi

// The events of the realtime protocol that act on runs: the same rules and codes as the requests.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/runs/toolrun"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// Act carries out an antiphon.run.reply, an antiphon.run.cancel or an antiphon.run.follow of a principal. It returns nil once the store has the change, or once the session of ctx
// follows the runs. Every other event is refused. The caller has checked that the sender may act for the principal.
func (h *Handler) Act(ctx context.Context, principal string, e wire.ClientEvent) *wire.Error {
	err := h.act(ctx, principal, e)
	if err == nil {
		return nil
	}
	_, code, kind := classify(err)
	return &wire.Error{Type: kind, Code: code, Message: err.Error()}
}

func (h *Handler) act(ctx context.Context, principal string, e wire.ClientEvent) error {
	switch e := e.(type) {
	case *wire.AntiphonRunReply:
		approve, err := approval(e.Approve)
		if err != nil {
			return err
		}
		a, err := answerOf(e.InteractionID, approve, json.RawMessage(e.Reply))
		if err != nil {
			return err
		}
		_, err = h.runs.Reply(ctx, principal, e.RunID, e.InteractionID, a)
		return err
	case *wire.AntiphonRunCancel:
		_, err := h.runs.Cancel(ctx, principal, e.RunID, e.Reason)
		return err
	case *wire.AntiphonRunFollow:
		return h.follow(ctx, principal, e.RunID)
	}
	return fmt.Errorf("%w: %s does not act on a run", runs.ErrInvalid, e.Type())
}

// mostFollowed is how many runs a session follows that names none.
const mostFollowed = 20

// follow lets the session of ctx follow a run of a principal, or its newest runs that have not ended for the id "".
func (h *Handler) follow(ctx context.Context, principal, id string) error {
	caller := tool.CallerOf(ctx)
	if caller == nil {
		return fmt.Errorf("%w: only a session follows runs: read the events of the run over HTTP", runs.ErrInvalid)
	}
	if id != "" {
		one, err := h.runs.Get(ctx, principal, id)
		if err == nil {
			toolrun.Follow(ctx, h.runs, caller, one, h.logger)
		}
		return err
	}
	all, _, err := h.runs.List(ctx, principal, "", maxPage)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r *runs.Run) bool { return r.Result != nil })
	for _, r := range slices.Backward(all[:min(len(all), mostFollowed)]) {
		toolrun.Follow(ctx, h.runs, caller, r, h.logger)
	}
	return nil
}

// approval returns the value of approve; nil if it is missing.
func approval(approve wire.Raw) (*bool, error) {
	if approve == nil {
		return nil, nil
	}
	var yes bool
	if err := json.Unmarshal(approve, &yes); err != nil {
		return nil, fmt.Errorf("%w: approve: want true or false", runs.ErrInvalid)
	}
	return &yes, nil
}
