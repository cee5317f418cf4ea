package session

// A session that goes on with a call follows the runs of the session before, and the client and the model hear of each message once.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestRunsAreFollowedAgain(t *testing.T) {
	begin := func(t *testing.T, refused ...*wire.Error) (*longCall, <-chan string) {
		asked := make(chan string, 9)
		l := beginLongCall(t, time.Hour, 12*time.Hour, func(c *Config) {
			c.Options.Runs = runs.Access{Keyed: true, Act: func(_ context.Context, e wire.ClientEvent) (why *wire.Error) {
				if len(refused) > 0 {
					why, refused = refused[0], refused[1:]
				}
				asked <- e.(*wire.AntiphonRunFollow).RunID
				return why
			}}
		})
		l.settle(`"output_modalities":["text"]`)
		return l, asked
	}
	news := func(seq uint64, text string) tool.News {
		return tool.News{Run: "run_1", Tool: "book", Seq: seq, Message: []byte(`{}`), Text: text}
	}

	story(t, "from where the client and the model know them", func(t *testing.T) {
		l, asked := begin(t)
		caller := l.s.runs.Caller
		caller.Follow("run_1")
		caller.Tell(news(1, ""))
		caller.Tell(news(2, "The run has begun."))
		first(l.caller, "response.done")
		l.ask("stall")
		first(l.caller, "response.created")
		caller.Tell(news(3, "The run has a result.")) // the model does not read it while it writes
		caller.Tell(news(4, ""))
		wait(time.Second)
		l.g.Expect(l.kept.known().Runs).To(gomega.Equal([]journal.Run{{ID: "run_1", Told: 4, Read: 2}}))
		l.s.Close(conn.ServerStops)
		<-l.s.Done()

		l.goesOn()
		l.g.Expect(<-asked).To(gomega.Equal("run_1"))
		caller = l.s.runs.Caller
		l.g.Expect(caller.Knew).To(gomega.Equal(map[string]tool.Progress{"run_1": {Told: 4, Read: 2}}))
		known := news(3, "The run has a result.")
		known.Message = nil
		caller.Follow("run_1")
		caller.Tell(known)
		caller.Tell(news(5, ""))
		wait(time.Second)
		l.g.Expect(l.count("antiphon.run.message")).To(gomega.Equal(1))
		l.g.Expect(l.kept.known().Runs).To(gomega.Equal([]journal.Run{{ID: "run_1", Told: 5, Read: 5}}))
		caller.Unfollow("run_1", true)
		wait(time.Second)
		l.g.Expect(l.kept.known().Runs).To(gomega.BeEmpty())
	})

	story(t, "also if the store is away at first; a run that is gone is forgotten", func(t *testing.T) {
		l, asked := begin(t, &wire.Error{Code: "store_unavailable"}, &wire.Error{Code: "run_not_found"})
		l.s.runs.Caller.Follow("run_1")
		wait(time.Second)
		l.s.Close(conn.ServerStops)
		<-l.s.Done()
		l.goesOn()
		l.g.Expect([]string{<-asked, <-asked}).To(gomega.Equal([]string{"run_1", "run_1"}))
		wait(time.Second)
		l.g.Expect(l.kept.known().Runs).To(gomega.BeEmpty())
	})

	story(t, "news that nobody has answered yet are answered", func(t *testing.T) {
		l, _ := begin(t)
		l.send(`{"type":"input_audio_buffer.append","audio":""}`)
		l.s.Lost() // the agent answers once the client is back
		l.s.runs.Caller.Follow("run_1")
		l.s.runs.Caller.Tell(news(1, "The run has a result."))
		wait(time.Second)
		l.g.Expect(l.count("response.created")).To(gomega.BeZero())
		l.s.Close(conn.ServerStops)
		<-l.s.Done()
		l.goesOn()
		first(l.caller, "response.done")
	})
}
