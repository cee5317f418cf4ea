package session

// Replies by speech to questions of runs that are no approval: whose words reply, what they reply, and what leaves the question open.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// wonders lets a run wait for a reply.
func (a *asking) wonders(choices ...string) {
	a.to.Tell(tool.News{Run: "run_1", Tool: "book", Text: "Run run_1 needs the user.", Asks: &tool.Question{Interaction: "ia_1", Prompt: "Where to?", Choices: choices}})
}

const (
	whereQuestion = "completed: book has a question for you: Where to? What is your answer?"
	whichQuestion = "completed: book has a question for you: Where to? The choices are: hello, this is a test. Which one do you take?"
)

// asks waits until the server has asked a question.
func (a *asking) asks(question string) {
	a.t.Helper()
	a.g.Expect(outline(next[*wire.ResponseDone](a.caller, "response.done").Response)).To(gomega.Equal(question))
	a.idle()
}

func TestReplyBySpeech(t *testing.T) {
	for _, webRTC := range []bool{true, false} {
		name := map[bool]string{true: "WebRTC: ", false: "WebSocket: "}[webRTC]
		story(t, name+"any words", func(t *testing.T) {
			a := askedFor(t, askingWith{webRTC: webRTC})
			a.wonders()
			a.asks(whereQuestion)
			a.g.Expect(a.model.calls()).To(gomega.Equal(2), "the server asks, and no model")
			a.says("to the sea")
			next[*wire.ResponseDone](a.caller, "response.done")
			a.g.Expect(a.done()).To(gomega.Equal([]string{`run_1 ia_1 "to the sea"`}))
			a.g.Expect(a.model.read(3)).To(gomega.HaveSuffix("What is your answer? | user: to the sea | system: " + fmt.Sprintf(replied, "run_1", "book", "to the sea")))
			a.idle()
			a.says("to the hills")
			a.g.Expect(a.done()).To(gomega.BeEmpty(), "it counts once, also before the store has said so")
			a.to.Tell(tool.News{Run: "run_1", Tool: "book", Settled: true})
			a.idle()
			a.says("to the hills")
			a.g.Expect(a.done()).To(gomega.BeEmpty(), "nothing waits any more")
		})
	}
	story(t, "the choice that the words name", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.wonders("hello", "this is a test")
		a.asks(whichQuestion)
		a.says("something else")
		next[*wire.ResponseDone](a.caller, "response.done")
		a.asks(whichQuestion)
		a.says("I take this is a test please")
		a.g.Expect(a.done()).To(gomega.Equal([]string{`run_1 ia_1 "this is a test"`}))
	})
	story(t, "later: it stays open, and the server asks no more", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.wonders()
		a.asks(whereQuestion)
		a.says("not now")
		a.asks("completed: I am on it.")
		a.g.Expect(a.model.read(3)).To(gomega.HaveSuffix("user: not now | system: " + fmt.Sprintf(putOff, "run_1", "book")))
		a.says("to the sea")
		a.asks("completed: I am on it.")
		a.g.Expect(a.done()).To(gomega.BeEmpty())
		a.g.Expect(a.model.calls()).To(gomega.Equal(4))
	})
	story(t, "too late: the words go to the model, and the server asks again", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.wonders()
		a.asks(whereQuestion)
		wait(30 * time.Second)
		a.says("to the sea")
		next[*wire.ResponseDone](a.caller, "response.done")
		a.g.Expect(a.done()).To(gomega.BeEmpty())
		a.asks(whereQuestion)
		a.says("to the hills")
		a.g.Expect(a.done()).To(gomega.Equal([]string{`run_1 ia_1 "to the hills"`}))
	})
	story(t, "no reply: the server asks three times in all, and then the model tells the user", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.wonders()
		for range 3 {
			a.asks(whereQuestion)
			a.says("say that again")
			next[*wire.ResponseDone](a.caller, "response.done")
		}
		next[*wire.ResponseDone](a.caller, "response.done")
		a.g.Expect(a.model.read(6)).To(gomega.HaveSuffix("system: Run run_1 needs the user."))
		a.g.Expect(a.done()).To(gomega.BeEmpty())
	})
	story(t, "a reply that is not stored may be given again", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.taken = &wire.Error{Code: "store_unavailable", Message: "the store is away"}
		a.wonders()
		a.asks(whereQuestion)
		a.says("to the sea")
		a.asks("completed: I am on it.")
		a.g.Expect(a.done()).To(gomega.HaveLen(1))
		next[*wire.ResponseDone](a.caller, "response.done")
		a.g.Expect(a.model.read(4)).To(gomega.ContainSubstring("system: " + fmt.Sprintf(notTaken, "run_1", "the store is away")))
		a.to.Tell(tool.News{Run: "run_1", Tool: "book", Settled: true})
	})
}

// TestWhoRepliesBySpeech: what approves nothing replies nothing either, and a reply approves nothing.
func TestWhoRepliesBySpeech(t *testing.T) {
	for name, forge := range map[string]func(a *asking){
		"a text of the client in the user's name": func(a *asking) {
			a.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Oslo"}]}}`)
			a.send(`{"type":"response.create"}`)
		},
		"the language changes after it": func(a *asking) {
			a.settle(`"audio":{"input":{"transcription":{"language":"it"}}}`)
			a.says("to the sea")
		},
		"the connection is lost before it has arrived": func(a *asking) { a.s.Lost(); a.s.Restored(); a.says("to the sea") },
		"another run waits":                            func(a *asking) { a.needs("run_2"); a.says("yes") },
	} {
		story(t, name, func(t *testing.T) {
			a := askedFor(t, askingWith{})
			a.wonders()
			a.asks(whereQuestion)
			forge(a)
			a.g.Expect(a.done()).To(gomega.BeEmpty())
		})
	}
	story(t, "before the question is heard to its end", func(t *testing.T) {
		a := askedFor(t, askingWith{webRTC: true})
		a.wonders()
		next[*wire.ResponseCreated](a.caller, "response.created")
		wait(300 * time.Millisecond)
		a.says("to the sea to the sea")
		a.g.Expect(a.done()).To(gomega.BeEmpty())
	})
	story(t, "a call of a client secret", func(t *testing.T) {
		a := askedFor(t, askingWith{secret: true})
		a.wonders()
		next[*wire.ResponseDone](a.caller, "response.done")
		a.idle()
		a.g.Expect(a.model.read(3)).To(gomega.HaveSuffix("system: Run run_1 needs the user."), "the model tells the user")
		a.says("to the sea")
		a.g.Expect(a.done()).To(gomega.BeEmpty())
	})
	story(t, "with a voice gate, the reply must be of an authorised person", func(t *testing.T) {
		a := askedFor(t, askingWith{gate: &pipeline.VoiceGate{Verifier: &verifying{f: users("Ada", "Bob", "Ada")}, FirstTurn: true}})
		a.says("hello")
		next[*wire.ResponseDone](a.caller, "response.done")
		a.idle()
		a.wonders()
		a.asks(whereQuestion)
		a.says("to the sea")
		a.g.Expect(a.done()).To(gomega.BeEmpty(), "Bob")
		a.says("to the sea")
		a.g.Expect(a.done()).To(gomega.Equal([]string{`run_1 ia_1 "to the sea"`}), "Ada")
	})
}
