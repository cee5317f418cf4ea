package session

// An end of a turn that is taken back, because the user goes on.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// callTakingBack places a call of a session that answers turns after 500 ms of silence. hello is what its client says of itself.
func callTakingBack(t *testing.T, hello string) *caller {
	t.Helper()
	c := newCallerWith(t, Config{Pipeline: scripted.New(scripted.Options{}), Settings: wire.DefaultSession(), AnswerAhead: true})
	c.pacer = newPacer(c.s, nil)
	c.start()
	c.send(`{"type":"antiphon.hello",` + hello + `"metrics":true}`)
	c.settle(captions)
	return c
}

// sentence speaks text and is silent for pause, in ms.
func (c *caller) sentence(text string, pause int) {
	c.speak(scripted.Tones(text))
	c.quiet(pause)
}

// userItems returns the transcripts of the user's items that were not deleted, in order.
func (c *caller) userItems() (said []string) {
	text := map[string]string{}
	var order []string
	for _, e := range c.All() {
		switch e := e.(type) {
		case *wire.InputAudioBufferCommitted:
			order = append(order, e.ItemID)
		case *wire.ConversationItemInputAudioTranscriptionCompleted:
			text[e.ItemID] = e.Transcript
		case *wire.ConversationItemDeleted:
			delete(text, e.ItemID)
		}
	}
	for _, id := range order {
		if words, is := text[id]; is {
			said = append(said, words)
		}
	}
	return said
}

// answers returns what the agent has said in each response, and the response's status.
func (c *caller) answers() (said []string) {
	for _, e := range c.All() {
		if d, is := e.(*wire.ResponseDone); is {
			text := ""
			for _, it := range d.Response.Output {
				if it.Type == wire.ItemMessage && len(it.Content) > 0 && it.Content[0].Transcript != nil {
					text += *it.Content[0].Transcript
				}
			}
			said = append(said, d.Response.Status+": "+text)
		}
	}
	return said
}

// wanted is the part of antiphon.hello that asks for it.
const wanted = `"take_back":true,`

func TestTakesBackAnEnd(t *testing.T) {
	story(t, "two parts of a sentence become one turn with one answer", func(t *testing.T) {
		c := callTakingBack(t, wanted)
		c.quiet(200)
		c.sentence("please book me a flight", 700)
		c.sentence("to rome on tuesday", 6000)
		c.g.Expect(c.userItems()).To(gomega.Equal([]string{"please book me a flight to rome on tuesday"}))
		answers := c.answers()
		c.g.Expect(answers[len(answers)-1]).To(gomega.Equal("completed: You said: please book me a flight to rome on tuesday"))
		c.g.Expect(c.s.conversation.Interrupted()).To(gomega.BeNil(), "nothing of the answer that was taken back is left")
		c.g.Expect(c.count("conversation.item.deleted")).To(gomega.Equal(2), "the first part and its answer")
	})
	story(t, "three parts become one turn", func(t *testing.T) {
		c := callTakingBack(t, wanted)
		c.quiet(200)
		c.sentence("my number is", 650)
		c.sentence("seven five", 650)
		c.sentence("nine one", 6000)
		c.g.Expect(c.userItems()).To(gomega.Equal([]string{"my number is seven five nine one"}))
	})
	story(t, "who goes on after a long pause begins a new turn", func(t *testing.T) {
		c := callTakingBack(t, wanted)
		c.quiet(200)
		c.sentence("hello", 2500)
		c.sentence("please book me a flight", 6000)
		c.g.Expect(c.userItems()).To(gomega.Equal([]string{"hello", "please book me a flight"}))
		c.g.Expect(c.count("conversation.item.deleted")).To(gomega.BeZero())
	})
	story(t, "an answer that the user has stopped by a button stays stopped, and what is said then is a new turn", func(t *testing.T) {
		c := callTakingBack(t, wanted)
		c.quiet(200)
		c.sentence("please book me a flight", 650)
		c.send(`{"type":"response.cancel"}`)
		c.send(`{"type":"output_audio_buffer.clear"}`)
		c.sentence("what time is it", 6000)
		c.g.Expect(c.userItems()).To(gomega.Equal([]string{"please book me a flight", "what time is it"}))
	})
	story(t, "a client that does not ask for it gets two turns", func(t *testing.T) {
		c := callTakingBack(t, "")
		c.quiet(200)
		c.sentence("please book me a flight", 700)
		c.sentence("to rome on tuesday", 6000)
		c.g.Expect(c.userItems()).To(gomega.Equal([]string{"please book me a flight", "to rome on tuesday"}))
	})
}

func TestCallsWaitForTheEnd(t *testing.T) {
	story(t, "a call of a tool waits until the end is final", func(t *testing.T) {
		const tool = `{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"get_weather","parameters":{}}]}}`
		c := callTakingBack(t, wanted)
		c.send(tool)
		first(c, "session.updated")
		c.quiet(200)
		c.sentence("call get_weather", 1200)
		first(c, "response.created")
		c.g.Expect(c.count("response.function_call_arguments.done")).To(gomega.BeZero())
		c.quiet(500)
		c.g.Expect(c.count("response.function_call_arguments.done")).To(gomega.Equal(1))
	})
	story(t, "a call of a tool for an end that is taken back never begins", func(t *testing.T) {
		c := callTakingBack(t, wanted)
		c.send(`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"get_weather","parameters":{}}]}}`)
		first(c, "session.updated")
		c.quiet(200)
		c.sentence("call get_weather", 900)
		c.sentence("no please do not do that now", 6000)
		c.g.Expect(c.userItems()).To(gomega.HaveLen(1))
		for _, e := range c.All() {
			if d, is := e.(*wire.ResponseDone); is && d.Response.Status == "cancelled" {
				c.g.Expect(d.Response.Output).To(gomega.BeEmpty())
			}
		}
	})
}
