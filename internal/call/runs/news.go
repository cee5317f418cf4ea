package runs

// Work in the background: its news reach the client and the conversation, the agent answers them if nobody speaks, and the client acts on runs.

import (
	"context"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxHeldNews is how many news wait for the end of a response. More go into the conversation at once.
const maxHeldNews = 32

// heldNews is what the model is to read of a run.
type heldNews struct {
	run, text string
	seq       uint64
	answers   bool // the agent answers it
}

// news takes news of background work.
func (r *Runs) news(n tool.News, s *coord.State) (out room.List) {
	if r.Settings.Client.Extended && n.Message != nil {
		out.Send(&wire.AntiphonRunMessage{RunID: n.Run, Tool: n.Tool, Message: wire.Raw(n.Message)})
	}
	if n.Settled {
		r.approvals.Settled(n.Run)
	}
	answers := true
	if q := n.Asks; q != nil {
		r.approvals.Waits(Pending{
			Run: n.Run, Tool: n.Tool, Interaction: q.Interaction, Text: n.Text,
			Approval: q.Approval, Arguments: q.Arguments, Prompt: q.Prompt, Choices: q.Choices,
		})
		if _, asks := r.userQuestion(); asks {
			n.Text, answers = serverAsks(n), false
		} else {
			r.approvals.GiveUp()
		}
	}
	held := heldNews{n.Run, n.Text, n.Seq, answers}
	waits := slices.ContainsFunc(r.held, func(h heldNews) bool { return h.run == n.Run })
	r.followed.told(n.Run, n.Seq, (n.Text == "" || n.Read) && !waits)
	if n.Text == "" || n.Read {
		return out
	}
	if _, free := s.Response.(response.Idle); !free && len(r.held) < maxHeldNews {
		r.held = append(r.held, held)
		return out
	}
	return append(out, r.addNews(held)...)
}

// addNews adds news to the end of the conversation. While the model writes a response they wait: it has not read them, and its words would come after them, as if
// it had.
func (r *Runs) addNews(n heldNews) room.List {
	r.followed.told(n.run, n.seq, true)
	out, told := r.inform(n.run, n.text)
	r.informed = r.informed || told && n.answers
	return out
}

// addHeldNews adds the news that have waited for the end of a response.
func (r *Runs) addHeldNews(s *coord.State) (out room.List) {
	if _, free := s.Response.(response.Idle); !free {
		return nil
	}
	for _, n := range r.held {
		out = append(out, r.addNews(n)...)
	}
	r.held = nil
	return out
}

// inform adds a system message about a run to the conversation. told is false if there is no room.
func (r *Runs) inform(run, text string) (out room.List, told bool) {
	out, refused := r.Conversation.Inform(text)
	if refused != nil {
		r.Log.Warn("the conversation has no room for news of background work", "run", run, "why", refused.Message)
	}
	return out, refused == nil
}

// mayAnswer reports whether the session may begin a response of its own accord now. later is true if it may do so in a moment. A turn of the user that is open, or
// waits for its response, comes first. A session that creates no responses by itself leaves the answer to its client.
func (r *Runs) mayAnswer(s *coord.State) (now, later bool) {
	_, live := s.Conn.(conn.Live)
	_, quiet := s.Turn.(turn.Idle)
	_, free := s.Response.(response.Idle)
	detection := r.Settings.TurnDetection()
	if !quiet || s.Waiting != 0 || detection == nil || !detection.CreateResponse {
		return false, false
	}
	return live && free, true
}

// Speak begins a response to news of background work, or one that asks the question of a run, once nobody speaks. A turn of the user is answered with the news
// in the conversation.
func (r *Runs) Speak(s *coord.State) room.List {
	if added := r.addHeldNews(s); len(added) > 0 {
		return added // it is called again
	}
	r.noteRemote()
	if !r.informed {
		return r.askUser(s)
	}
	now, later := r.mayAnswer(s)
	if !now && later {
		return nil
	}
	r.informed = false
	if !now {
		return nil
	}
	return r.respond()
}

// respond begins a response of the session's own accord.
func (r *Runs) respond() (out room.List) {
	p := &wire.ResponseParams{}
	if refused := r.Settings.MayRespond(p, false); refused != nil {
		out.Fail(refused)
		return out
	}
	return r.Generator.Respond(p)
}

// runTimeout is how long a request of the client for a run may take. A session that ends waits for it.
const runTimeout = 5 * time.Second

// begin carries out a request of the client for a run. The end of the session does not end it: a client that approves and hangs up has approved.
func (r *Runs) begin(e wire.ClientEvent) {
	r.actThen(e, func(refused *wire.Error) Event { return Acted{refused} })
}

// actThen carries out a request for a run, and posts the event for its end.
func (r *Runs) actThen(e wire.ClientEvent, then func(refused *wire.Error) Event) {
	r.Workers.Go(func() {
		ctx, cancel := env.WithTimeout(r.Env, context.WithoutCancel(r.Context), runTimeout, context.DeadlineExceeded)
		defer cancel()
		r.Post(then(r.Access.Act(tool.WithCaller(ctx, r.Caller), e)))
	})
}
