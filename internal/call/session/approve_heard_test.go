package session

// Approval by speech: what the user has not heard, no words approve, and a question that the server cannot ask is not lost.

import (
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// truncate says for a client that plays by itself how much of the newest question it has played.
func (a *asking) truncate(question wire.Response, ms string) {
	a.send(`{"type":"conversation.item.truncate","item_id":"` + question.Output[0].ID + `","content_index":0,"audio_end_ms":` + ms + `}`)
	first(a.caller, "conversation.item.truncated")
}

// TestApprovalUnheard: an answer does not count if the client has played less than the whole question, or something else after it.
func TestApprovalUnheard(t *testing.T) {
	for name, unheard := range map[string]func(a *asking, question wire.Response){
		"the client has played a part of it":           func(a *asking, question wire.Response) { a.truncate(question, "300") },
		"an out-of-band response speaks after it":      func(a *asking, _ wire.Response) { a.askOutOfBand(""); a.idle() },
		"the language changes after it":                func(a *asking, _ wire.Response) { a.settle(`"audio":{"input":{"transcription":{"language":"it"}}}`) },
		"the connection is lost before it has arrived": func(a *asking, _ wire.Response) { a.s.Lost(); a.s.Restored() },
	} {
		story(t, name, func(t *testing.T) {
			a := askedFor(t, askingWith{})
			a.needs("run_1")
			question := next[*wire.ResponseDone](a.caller, "response.done").Response
			a.g.Expect(outline(question)).To(gomega.Equal(bookQuestion))
			a.idle()
			unheard(a, question)
			a.says("no") // it declines in each of the languages
			a.g.Expect(a.done()).To(gomega.BeEmpty())
		})
	}
	story(t, "the connection is lost while it plays", func(t *testing.T) {
		a := askedFor(t, askingWith{webRTC: true})
		a.needs("run_1")
		next[*wire.ResponseCreated](a.caller, "response.created")
		a.s.Lost()
		wait(15 * time.Second)
		a.s.Restored()
		a.says("no")
		a.g.Expect(a.done()).To(gomega.BeEmpty())
	})
	story(t, "a client that truncates what it has played to its end has played it", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.needs("run_1")
		question := next[*wire.ResponseDone](a.caller, "response.done").Response
		a.idle()
		_, of := a.audio()
		a.truncate(question, strconv.Itoa(of[question.ID]))
		a.says("no")
		a.g.Expect(a.done()).To(gomega.Equal([]string{"run_1 ia_1 false"}))
	})
}

// TestApprovalNotAsked: where the server does not ask by speech, or asks no more, the model tells the user that an approval waits.
func TestApprovalNotAsked(t *testing.T) {
	for _, detection := range []string{`null`, `{"type":"server_vad","create_response":false}`} {
		story(t, "the client creates the responses, turn_detection "+detection, func(t *testing.T) {
			a := askedFor(t, askingWith{})
			a.settle(`"audio":{"input":{"turn_detection":` + detection + `}}`)
			a.needs("run_1")
			a.idle()
			a.send(`{"type":"response.create"}`)
			next[*wire.ResponseDone](a.caller, "response.done")
			a.g.Expect(a.model.read(3)).To(gomega.HaveSuffix("system: Run run_1 needs the user."))
		})
	}
	story(t, "the server has asked three times", func(t *testing.T) {
		a := askedFor(t, askingWith{})
		a.needs("run_1")
		for range 3 {
			a.asksUser()
			a.says("what does it cost")
			next[*wire.ResponseDone](a.caller, "response.done")
		}
		next[*wire.ResponseDone](a.caller, "response.done")
		a.g.Expect(a.model.read(6)).To(gomega.HaveSuffix("system: Run run_1 needs the user."))
		a.idle()
		a.g.Expect(a.model.calls()).To(gomega.Equal(6), "it is told once")
	})
}
