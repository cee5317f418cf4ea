package session

// Work in the background: its news reach the client and the conversation, the agent answers them if nobody speaks, and the client acts on runs.

import (
	"context"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/action"
	"github.com/antiphon-rt/antiphon/internal/call/approval"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// background is what a session knows of work in the background.
type background struct {
	informed  bool // the model has got news that nobody has answered yet
	approvals approval.Approvals
	question  question     // of the approvals, that was asked last
	caller    *tool.Caller // the session, for the runs that it begins or follows
	followed  followed
	held      []heldNews // news that came while the model wrote a response, at most maxHeldNews
}

// maxHeldNews is how many news wait for the end of a response. More go into the conversation at once.
const maxHeldNews = 32

// heldNews is what the model is to read of a run.
type heldNews struct {
	run, text string
	seq       uint64
	answers   bool // the agent answers it
}

// news takes news of background work.
func (s *Session) news(n tool.News) (out action.List) {
	s.recorder.touch()
	if s.client.Extended() && n.Message != nil {
		out.Send(&wire.AntiphonRunMessage{RunID: n.Run, Tool: n.Tool, Message: wire.Raw(n.Message)})
	}
	if n.Settled {
		s.runs.approvals.Settled(n.Run)
	}
	answers := true
	if q := n.Asks; q != nil {
		s.runs.approvals.Waits(approval.Pending{
			Run: n.Run, Tool: n.Tool, Interaction: q.Interaction, Text: n.Text,
			Approval: q.Approval, Arguments: q.Arguments, Prompt: q.Prompt, Choices: q.Choices,
		})
		if _, asks := s.userQuestion(); asks {
			n.Text, answers = serverAsks(n), false
		} else {
			s.runs.approvals.GiveUp()
		}
	}
	held := heldNews{n.Run, n.Text, n.Seq, answers}
	waits := slices.ContainsFunc(s.runs.held, func(h heldNews) bool { return h.run == n.Run })
	s.runs.followed.told(n.Run, n.Seq, (n.Text == "" || n.Read) && !waits)
	if n.Text == "" || n.Read {
		return out
	}
	if _, free := s.machines.state.Response.(response.Idle); !free && len(s.runs.held) < maxHeldNews {
		s.runs.held = append(s.runs.held, held)
		return out
	}
	return append(out, s.addNews(held)...)
}

// addNews adds news to the end of the conversation. While the model writes a response they wait: it has not read them, and its words would come after them, as if
// it had.
func (s *Session) addNews(n heldNews) action.List {
	s.runs.followed.told(n.run, n.seq, true)
	out, told := s.inform(n.run, n.text)
	s.runs.informed = s.runs.informed || told && n.answers
	return out
}

// addHeldNews adds the news that have waited for the end of a response.
func (s *Session) addHeldNews() (out action.List) {
	if _, free := s.machines.state.Response.(response.Idle); !free {
		return nil
	}
	for _, n := range s.runs.held {
		out = append(out, s.addNews(n)...)
	}
	s.runs.held = nil
	return out
}

// inform adds a system message about a run to the conversation. told is false if there is no room.
func (s *Session) inform(run, text string) (out action.List, told bool) {
	out, refused := s.client.Inform(text)
	if refused != nil {
		s.log.Warn("the conversation has no room for news of background work", "run", run, "why", refused.Message)
	}
	return out, refused == nil
}

// mayAnswer reports whether the session may begin a response of its own accord now. later is true if it may do so in a moment. A turn of the user that is open, or
// waits for its response, comes first. A session that creates no responses by itself leaves the answer to its client.
func (s *Session) mayAnswer() (now, later bool) {
	state := &s.machines.state
	_, live := state.Conn.(conn.Live)
	_, quiet := state.Turn.(turn.Idle)
	_, free := state.Response.(response.Idle)
	detection := s.settings.TurnDetection()
	if !quiet || state.Waiting != 0 || detection == nil || !detection.CreateResponse {
		return false, false
	}
	return live && free, true
}

// speakOfRuns begins a response to news of background work, or one that asks the question of a run, once nobody speaks. A turn of the user is answered with the news
// in the conversation.
func (s *Session) speakOfRuns() action.List {
	if added := s.addHeldNews(); len(added) > 0 {
		return added // it is called again
	}
	if !s.runs.informed {
		return s.askUser()
	}
	now, later := s.mayAnswer()
	if !now && later {
		return nil
	}
	s.runs.informed = false
	if !now {
		return nil
	}
	return s.client.Respond()
}

// runTimeout is how long a request of the client for a run may take. A session that ends waits for it.
const runTimeout = 5 * time.Second

// actOnRun carries out a request of the client for a run. The end of the session does not end it: a client that approves and hangs up has approved.
func (s *Session) actOnRun(e wire.ClientEvent) {
	s.actThen(e, func(refused *wire.Error) event { return runActed{refused} })
}

// actThen carries out a request for a run, and posts the event for its end.
func (s *Session) actThen(e wire.ClientEvent, then func(refused *wire.Error) event) {
	s.shared.workers.Go(func() {
		ctx, cancel := env.WithTimeout(s.cfg.Env, context.WithoutCancel(s.shared.ctx), runTimeout, context.DeadlineExceeded)
		defer cancel()
		s.post(then(s.cfg.Options.Runs.Act(tool.WithCaller(ctx, s.runs.caller), e)))
	})
}
