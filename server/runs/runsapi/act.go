package runsapi

// The events of the realtime protocol that act on runs: the same rules and codes as the requests.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/antiphon-rt/antiphon/server/runs"
	"github.com/antiphon-rt/antiphon/wire"
)

// Act carries out an antiphon.run.reply or an antiphon.run.cancel of a principal. It returns nil once the store has the change. Every other event is
// refused. The caller has checked that the sender may act for the principal.
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
	}
	return fmt.Errorf("%w: %s does not act on a run", runs.ErrInvalid, e.Type())
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
