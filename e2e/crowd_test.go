package e2e

// Many calls at once, each with a spoken turn, a tool call and an interruption.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestTwentyCallsAtOnce: twenty clients call one server, each with a spoken turn, a tool call and an interruption.
func TestTwentyCallsAtOnce(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	h := open(t, nil, nil)
	callers := make([]*caller, 20)
	everyone(t, len(callers), func(g *gomega.WithT, i int) {
		callers[i] = conversation(t, g, h, fmt.Sprintf("number %d", i), false, time.Duration(i)*100*time.Millisecond)
	})
	listenAgain(t, callers)
}

// TestThreeCallsOfBothKinds mixes WebRTC and WebSocket.
func TestThreeCallsOfBothKinds(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	callers := make([]*caller, 3)
	everyone(t, len(callers), func(g *gomega.WithT, i int) {
		callers[i] = conversation(t, g, h, fmt.Sprintf("mixed %d", i), i == 1, 0)
	})
	listenAgain(t, callers)
}

// listenAgain decodes the recorded sound of each call. It runs after all calls, since the calls need the processor's time.
func listenAgain(t *testing.T, callers []*caller) {
	for _, c := range callers {
		if c != nil {
			// a lost packet loses one character
			gomega.NewWithT(t).Expect(c.heardText()).To(containsAllBut(1, c.kept), "%s heard %s", c.name, c.heardText())
		}
	}
}

// conversation runs one call from its beginning to its end and returns its caller. The user is silent for a given time first, so that not all users speak at
// once.
func conversation(t *testing.T, g *gomega.WithT, h *house, name string, webSocket bool, silent time.Duration) *caller {
	c := newCaller(t, g, callOptions{name: name, url: h.url, webSocket: webSocket, sdk: sdk.Options{Tools: []sdk.Tool{{
		Name: "get_weather", Description: "The weather in a town.",
		Parameters: []byte(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`),
		Run: func(_ context.Context, arguments string) (string, error) {
			return "it rains on " + name, nil
		},
	}}}})
	c.connect(t.Context())
	c.speak(make([]int16, int(silent.Seconds()*native.Rate)))
	c.voiceTurn("hello from " + name)
	c.toolCall("please get weather for "+name, "it rains on "+name)
	c.interruption("stop, I am " + name)
	c.hangUp()

	var said []string
	for _, e := range c.Snapshot().Transcript {
		if e.ToolCall == nil {
			said = append(said, e.Text)
		}
	}
	c.Expect(said).To(gomega.HaveLen(8))
	c.Expect(slices.Delete(said, 5, 6)).To(gomega.Equal([]string{
		"hello from " + name, "You said: hello from " + name,
		"please get weather for " + name, "Tool said: it rains on " + name,
		"say 60 words", "stop, I am " + name, "You said: stop, I am " + name,
	}))
	return c
}

// The order of the events of a spoken turn and its response, over WebRTC and over a WebSocket, without events that may come at any
// time.
var (
	turnOrder = []string{
		"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
		"conversation.item.added", "conversation.item.done",
	}
	callOrder = []string{
		"response.created", "response.output_item.added", "conversation.item.added", "response.function_call_arguments.done",
		"response.output_item.done", "conversation.item.done", "response.done",
	}
	beginOrder = []string{"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added"}
	endOrder   = []string{
		"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
		"response.output_item.done", "conversation.item.done", "response.done",
	}
)

// voiceTurn says text and checks everything about the answer to it.
func (c *caller) voiceTurn(text string) {
	from := c.read
	c.say(text)
	c.answer("You said: " + text)
	c.Expect(c.transcripts(from)).To(gomega.Equal([]string{text}))
	c.Expect(c.order(from)).To(gomega.Equal(slices.Concat(turnOrder, beginOrder, endOrder)))
}

// toolCall says text, which names a tool, and checks the call and the answer to its result.
func (c *caller) toolCall(text, result string) {
	from := c.read
	c.say(text)
	call := nextOf[*wire.ResponseDone](c).Response
	c.Expect(call.Status).To(gomega.Equal("completed"))
	c.Expect(call.Output).To(gomega.HaveLen(1))
	c.Expect(call.Output[0].Name).To(gomega.Equal("get_weather"), "understood was %q", c.transcripts(from))
	c.Expect(call.Output[0].Arguments).To(gomega.MatchJSON(fmt.Sprintf(`{"town":%q}`, text)))
	c.answer("Tool said: " + result)
	c.Expect(c.transcripts(from)).To(gomega.Equal([]string{text}))
	c.Expect(c.order(from)).To(gomega.Equal(slices.Concat(turnOrder, callOrder, beginOrder, endOrder)))
}

// interruption makes the agent speak for long, speaks over it, and checks the cut response.
func (c *caller) interruption(text string) {
	from := c.read
	c.say("say 60 words")
	c.next("response.created")
	c.hear(1200 * time.Millisecond)
	c.say(text)
	c.next("input_audio_buffer.speech_started")
	cut := nextOf[*wire.ResponseDone](c)
	c.Expect(cut.Response.Status).To(gomega.Equal("cancelled"), "understood was %q", c.transcripts(from))
	c.Expect(cut.Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
	truncation := nextOf[*wire.ConversationItemTruncated](c)
	found, _, ok := c.line.find(c.read, func(s seen) bool { return s.Type() == "conversation.item.retrieved" }) // before or after the events of the answer
	c.Expect(ok).To(gomega.BeTrue())
	retrieved, _ := found.ServerEvent.(*wire.ConversationItemRetrieved)

	// The conversation keeps the words that were heard.
	kept := *retrieved.Item.Content[0].Transcript
	c.Expect(transcript(cut)).To(gomega.HavePrefix("One two three four, five six seven eight. Nine"))
	c.Expect(transcript(cut)).To(gomega.HavePrefix(kept + " "))
	c.Expect(len(kept) * 60).To(gomega.BeNumerically("~", truncation.AudioEndMS, 60*len(" seventeen")))

	// All words of the interruption are recognised, and no other sound than their answer follows.
	c.heardBefore = time.Duration(truncation.AudioEndMS) * time.Millisecond
	c.answer("You said: " + text)
	c.Expect(c.transcripts(from)).To(gomega.Equal([]string{"say 60 words", text}))
	c.kept = kept
}

// answer waits for the next spoken response. It checks the text, and that all of its sound arrives, with no other sound than
// heardBefore.
func (c *caller) answer(text string) *wire.ResponseDone {
	c.begin()
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(done.Response.Status).To(gomega.Equal("completed"))
	c.Expect(transcript(done)).To(gomega.Equal(text))
	if !c.webSocket {
		c.next("output_audio_buffer.stopped")
	}
	// The scripted synthesizer takes 60 ms for a character, and the codec lengthens the end.
	length := c.heardBefore + time.Duration(len(text))*scripted.Character
	slack := 60 * time.Millisecond
	if c.heardBefore > 0 {
		slack = 100 * time.Millisecond
	}
	c.hear(length - slack)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.Expect(c.speaker.AwaitSilence(ctx, 300*time.Millisecond)).To(gomega.Succeed())
	heard := c.heard()
	c.Expect(heard).To(gomega.BeNumerically("~", length, slack), c.heardText)
	c.settled += heard
	c.heardBefore = 0
	return done
}

// begin waits for the beginning of the next response, unless one has begun already.
func (c *caller) begin() {
	if !c.live {
		c.next("response.created")
	}
}

// heard returns how much sound has arrived since the last response that was played to its end.
func (c *caller) heard() time.Duration {
	_, total := c.speaker.Sounded()
	return total - c.settled
}

// hear waits until this much sound has arrived since the last response that was played to its end.
func (c *caller) hear(least time.Duration) {
	c.Eventually(c.heard, patience).Should(gomega.BeNumerically(">=", least))
}

func (c *caller) heardText() string {
	text, err := scripted.Heard(c.speaker.Recording())
	c.Expect(err).NotTo(gomega.HaveOccurred())
	return text
}

// order returns the types of the events from number n on, without events that may come at any time, such as those of a tool's result.
func (c *caller) order(n int) []string {
	var out []seen
	for _, e := range c.line.since(n)[:c.read-n] {
		switch e := e.ServerEvent.(type) {
		case *wire.ConversationItemAdded:
			if e.Item.Type == wire.ItemFunctionCallOutput {
				continue
			}
		case *wire.ConversationItemDone:
			if e.Item.Type == wire.ItemFunctionCallOutput {
				continue
			}
		}
		out = append(out, e)
	}
	return slices.DeleteFunc(names(out), func(name string) bool {
		return strings.HasSuffix(name, ".delta") || strings.HasPrefix(name, "output_audio_buffer.st") ||
			strings.HasPrefix(name, "conversation.item.input_audio_transcription.") || strings.HasPrefix(name, "antiphon.") ||
			name == "conversation.item.retrieved"
	})
}

// transcripts returns the user's words from event number n on.
func (c *caller) transcripts(n int) []string {
	var out []string
	for _, e := range c.line.since(n) {
		if e, ok := e.ServerEvent.(*wire.ConversationItemInputAudioTranscriptionCompleted); ok {
			out = append(out, e.Transcript)
		}
	}
	return out
}

// transcript returns the words of a response.
func transcript(done *wire.ResponseDone) string {
	out := done.Response.Output
	if len(out) == 0 || len(out[len(out)-1].Content) == 0 || out[len(out)-1].Content[0].Transcript == nil {
		return ""
	}
	return *out[len(out)-1].Content[0].Transcript
}
