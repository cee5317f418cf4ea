package session

// Work in the background: its news reach the client and the conversation, the agent answers them if nobody speaks, and the client acts on runs.

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/env"
	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
	"github.com/antiphon-rt/antiphon/server/session/action"
	"github.com/antiphon-rt/antiphon/wire"
)

// news takes news of background work.
func (s *Session) news(n tool.News) (out action.List) {
	if s.client.Extended() {
		out.Send(&wire.AntiphonRunMessage{RunID: n.Run, Tool: n.Tool, Message: wire.Raw(n.Message)})
	}
	if n.Text == "" {
		return out
	}
	added, refused := s.client.Inform(n.Text)
	if refused != nil {
		s.log.Warn("the conversation has no room for news of background work", "run", n.Run, "why", refused.Message)
		return out
	}
	s.informed = true
	return append(out, added...)
}

// answerNews begins a response to news of background work once nobody speaks. A turn of the user that is open, or waits for its response, is answered with the
// news in the conversation. A session that creates no responses by itself leaves the answer to its client.
func (s *Session) answerNews() action.List {
	if !s.informed {
		return nil
	}
	state := &s.machines.state
	_, live := state.Conn.(conn.Live)
	_, quiet := state.Turn.(turn.Idle)
	_, free := state.Response.(response.Idle)
	detection := s.settings.TurnDetection()
	switch {
	case !quiet, state.Waiting != 0, detection == nil, detection != nil && !detection.CreateResponse:
		s.informed = false
		return nil
	case !live || !free:
		return nil // later
	}
	s.informed = false
	return s.client.Respond()
}

// runTimeout is how long a request of the client for a run may take. A session that ends waits for it.
const runTimeout = 5 * time.Second

// actOnRun carries out a request of the client for a run. The end of the session does not end it: a client that approves and hangs up has approved.
func (s *Session) actOnRun(e wire.ClientEvent) {
	s.shared.workers.Go(func() {
		ctx, cancel := env.WithTimeout(s.cfg.Env, context.WithoutCancel(s.shared.ctx), runTimeout, context.DeadlineExceeded)
		defer cancel()
		s.post(runActed{s.cfg.Options.Runs.Act(ctx, e)})
	})
}
