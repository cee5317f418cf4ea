package session

// The voice gate: who gets an answer, what the model is asked, and what a back end that fails or hangs costs.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// verifier is a pipeline.SpeakerVerifier.
type verifier func(ctx context.Context, turn int) (pipeline.SpeakerVerdict, error)

// verifying is a verifier that counts the turns.
type verifying struct {
	mu    sync.Mutex
	turns int
	f     verifier
}

func (v *verifying) Verify(ctx context.Context, _ []float32) (pipeline.SpeakerVerdict, error) {
	v.mu.Lock()
	v.turns++
	n := v.turns
	v.mu.Unlock()
	return v.f(ctx, n)
}

// asked is a model that keeps what it was asked.
type asked struct {
	pipeline.Model
	mu   sync.Mutex
	text []string
}

func (m *asked) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	m.mu.Lock()
	for _, msg := range r.Messages {
		m.text = append(m.text, msg.Text)
	}
	m.mu.Unlock()
	return m.Model.Generate(ctx, r, emit)
}

func (m *asked) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.text, "|")
}

// voiceGated returns a pipeline with a voice gate.
func voiceGated(first bool, f verifier) (*pipeline.Pipeline, *verifying, *asked) {
	p := plain()
	v, m := &verifying{f: f}, &asked{Model: p.Model}
	p.Gate, p.Model = &pipeline.VoiceGate{Verifier: v, FirstTurn: first}, m
	return p, v, m
}

// users are who speaks in the turns, one after the other: "Ada" is authorised.
func users(names ...string) verifier {
	return func(_ context.Context, turn int) (pipeline.SpeakerVerdict, error) {
		name := names[min(turn, len(names))-1]
		return pipeline.SpeakerVerdict{Authorised: name == "Ada", Speaker: strings.TrimSuffix(name, "?")}, nil
	}
}

// says lets the user say a text and be silent.
func (c *caller) says(text string) {
	c.speak(scripted.Tones(text))
	c.quiet(1200)
}

// gatedCaller returns a client over a WebSocket whose session checks its invariants and answers ahead.
func gatedCaller(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), CheckInvariants: true, AnswerAhead: true}).start()
	c.send(`{"type":"antiphon.hello"}`)
	return c
}

func TestVoiceGate(t *testing.T) {
	story(t, "the authorised person is answered", func(t *testing.T) {
		p, _, m := voiceGated(false, users("Ada"))
		c := gatedCaller(t, p)
		c.says("hello there")
		for _, want := range []string{"resolving", "authorised"} {
			c.g.Expect(next[*wire.AntiphonVoice](c, "antiphon.voice").State).To(gomega.Equal(want))
		}
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.g.Expect(m.heard()).To(gomega.ContainSubstring("hello there"))
	})
	story(t, "somebody else is not, and the next turn of the authorised person is", func(t *testing.T) {
		p, v, m := voiceGated(false, users("Bob", "Ada", "Bob"))
		c := gatedCaller(t, p)
		c.says("the secret of Bob")
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		c.g.Expect(next[*wire.AntiphonVoice](c, "antiphon.voice").State).To(gomega.Equal("resolving"))
		e := next[*wire.AntiphonVoice](c, "antiphon.voice")
		c.g.Expect([]string{e.ItemID, e.State, e.Reason}).To(gomega.Equal([]string{committed.ItemID, "rejected", "not_authorised"}))
		c.g.Expect(next[*wire.ConversationItemDeleted](c, "conversation.item.deleted").ItemID).To(gomega.Equal(committed.ItemID))
		c.g.Expect(c.count("response.created")).To(gomega.BeZero())
		c.g.Expect(m.heard()).To(gomega.BeEmpty())
		c.says("hello there")
		next[*wire.ResponseDone](c, "response.done")
		c.quiet(3000)
		c.says("the plan of Bob")
		c.quiet(3000)
		c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
		c.g.Expect(m.heard()).To(gomega.ContainSubstring("hello there"))
		c.g.Expect(m.heard()).NotTo(gomega.ContainSubstring("Bob"))
		c.g.Expect(v.turns).To(gomega.Equal(3))
	})
	story(t, "with the first turn alone, the trust stays", func(t *testing.T) {
		p, v, _ := voiceGated(true, users("Bob", "Ada", "Bob"))
		c := gatedCaller(t, p)
		c.says("let me in")
		next[*wire.ConversationItemDeleted](c, "conversation.item.deleted")
		for range 2 {
			c.says("hello there")
			next[*wire.ResponseDone](c, "response.done")
			c.quiet(3000)
		}
		c.g.Expect(v.turns).To(gomega.Equal(2))
		c.g.Expect(c.count("response.created")).To(gomega.Equal(2))
	})
}

func TestVoiceGateFailsClosed(t *testing.T) {
	for reason, f := range map[string]verifier{
		"failed": func(context.Context, int) (pipeline.SpeakerVerdict, error) {
			return pipeline.SpeakerVerdict{Authorised: true}, errors.New("broken")
		},
		"timeout": func(context.Context, int) (pipeline.SpeakerVerdict, error) {
			wait(time.Minute)
			return pipeline.SpeakerVerdict{Authorised: true}, nil
		},
		"not_authorised": func(context.Context, int) (pipeline.SpeakerVerdict, error) { return pipeline.SpeakerVerdict{}, nil },
	} {
		story(t, reason, func(t *testing.T) {
			p, _, m := voiceGated(true, f)
			c := gatedCaller(t, p)
			c.says("hello there")
			c.g.Expect(next[*wire.AntiphonVoice](c, "antiphon.voice").State).To(gomega.Equal("resolving"))
			e := next[*wire.AntiphonVoice](c, "antiphon.voice")
			c.g.Expect([]string{e.State, e.Reason}).To(gomega.Equal([]string{"rejected", reason}))
			next[*wire.ConversationItemDeleted](c, "conversation.item.deleted")
			c.quiet(1000)
			c.g.Expect(c.count("response.created")).To(gomega.BeZero())
			c.g.Expect(c.count("conversation.item.input_audio_transcription.completed")).To(gomega.BeZero())
			c.g.Expect(m.heard()).To(gomega.BeEmpty())
		})
	}
}

// TestVoiceGateAfterASecondLook: a text that was there before the commit waits for the verdict, too.
func TestVoiceGateAfterASecondLook(t *testing.T) {
	story(t, "the authorised person is answered by the text of the whole", func(t *testing.T) {
		p, v, m := voiceGated(false, users("Ada"))
		c := gatedOver(t, p, &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}}, Config{CheckInvariants: true, AnswerAhead: true})
		c.oneTurn(400)
		c.quiet(2000)
		c.saidAndAnswered("turn it on")
		c.g.Expect(v.turns).To(gomega.Equal(1))
		c.g.Expect(m.heard()).To(gomega.ContainSubstring("turn it on"))
	})
	story(t, "nothing of somebody else's reaches the model", func(t *testing.T) {
		p, _, m := voiceGated(false, users("Bob"))
		c := gatedOver(t, p, &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}}, Config{CheckInvariants: true, AnswerAhead: true})
		c.oneTurn(400)
		next[*wire.ConversationItemDeleted](c, "conversation.item.deleted")
		c.quiet(3000)
		c.g.Expect(c.count("response.created")).To(gomega.BeZero())
		c.g.Expect(c.count("conversation.item.input_audio_transcription.completed")).To(gomega.BeZero())
		c.g.Expect(m.heard()).To(gomega.BeEmpty())
	})
}

// TestVoiceGateRecreates: a person who is refused has interrupted the agent. The answer to the authorised person begins again.
func TestVoiceGateRecreates(t *testing.T) {
	story(t, "a refused barge-in", func(t *testing.T) {
		p, v, m := voiceGated(false, users("Ada", "Bob"))
		c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), CheckInvariants: true, AnswerAhead: true})
		c.pacer = newPacer(c.s, nil)
		c.start()
		c.send(`{"type":"antiphon.hello"}`)
		c.speak(scripted.Tones("say 40 words"))
		c.quiet(3000)
		first := next[*wire.OutputAudioBufferStarted](c, "output_audio_buffer.started").ResponseID
		c.speak(scripted.Tones("listen to Bob instead of her"))
		c.quiet(3000)
		cut := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect([]string{cut.ID, cut.Status, cut.StatusDetails.Reason}).To(gomega.Equal([]string{first, "cancelled", "turn_detected"}))
		bob := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
		c.g.Expect(next[*wire.AntiphonVoice](c, "antiphon.voice")).To(gomega.And(gomega.HaveField("ItemID", bob), gomega.HaveField("State", "resolving")))
		c.g.Expect(next[*wire.AntiphonVoice](c, "antiphon.voice")).To(gomega.And(gomega.HaveField("ItemID", bob), gomega.HaveField("State", "rejected")))
		c.g.Expect(next[*wire.ConversationItemDeleted](c, "conversation.item.deleted").ItemID).To(gomega.Equal(bob))

		again := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.g.Expect(again).NotTo(gomega.Equal(first))
		c.quiet(30_000)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.ID).To(gomega.Equal(again))
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		answer := *done.Output[0].Content[0].Transcript
		c.g.Expect(answer).To(gomega.HavePrefix("One two three four, five six"), "the answer is that to the authorised person, from its first word on")
		c.g.Expect(strings.Fields(answer)).To(gomega.HaveLen(40))
		c.g.Expect(c.pacer.words(c.g)).To(gomega.HaveSuffix(answer))
		requests := strings.SplitN(m.heard(), "|", 3)
		c.g.Expect(requests[:2]).To(gomega.Equal([]string{"say 40 words", "say 40 words"}), "the second request has the same question")
		c.g.Expect(answer).To(gomega.HavePrefix(requests[2]), "after it stands what was heard of the first answer, and nothing of the refused person")
		c.g.Expect(v.turns).To(gomega.Equal(2))
		c.g.Expect(c.count("response.created")).To(gomega.Equal(2))
	})
}

// Clients that commit by themselves ask for the response before the verdict.
func TestVoiceGateOfAClientThatCommits(t *testing.T) {
	for name, want := range map[string]string{"Ada": "completed", "Bob": "cancelled"} {
		story(t, name, func(t *testing.T) {
			p, _, m := voiceGated(false, func(ctx context.Context, _ int) (pipeline.SpeakerVerdict, error) {
				wait(time.Second)
				return pipeline.SpeakerVerdict{Authorised: name == "Ada"}, ctx.Err()
			})
			c := gatedCaller(t, p)
			c.settle(`"audio":{"input":{"turn_detection":null}}`)
			c.speak(scripted.Tones("press to talk"))
			c.send(`{"type":"input_audio_buffer.commit"}`)
			c.send(`{"type":"response.create"}`)
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal(want))
			c.g.Expect(strings.Contains(m.heard(), "press to talk")).To(gomega.Equal(name == "Ada"))
		})
	}
}

func TestVoiceGateTakesNoRecordings(t *testing.T) {
	story(t, "a recording in an item is refused", func(t *testing.T) {
		p, _, _ := voiceGated(false, users("Ada"))
		c := gatedCaller(t, p)
		c.send("{" + recorded("clip", make([]byte, 9600), "") + "}")
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("voice_gate"))
	})
	story(t, "a text is not", func(t *testing.T) {
		p, _, m := voiceGated(false, users("Bob"))
		c := gatedCaller(t, p)
		c.ask("hello")
		next[*wire.ResponseDone](c, "response.done")
		c.g.Expect(m.heard()).To(gomega.ContainSubstring("hello"))
	})
}
