package e2e

// Stages of the pipeline that fail, are missing or return garbage.

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stageStory is what a failing stage does in a call.
type stageStory struct {
	script string // the stages, in the language of the scripted pipeline
	tell   func(c *caller)
}

var modelStories = map[string]stageStory{
	"the model fails": {tell: func(c *caller) {
		c.say("please fail")
		done := nextOf[*wire.ResponseDone](c)
		c.Expect(done.Response.Status).To(gomega.Equal("failed"))
		c.Expect(done.Response.StatusDetails.Error).To(gomega.HaveValue(gomega.Equal(wire.StatusError{Type: "server_error", Code: "model_failed"})))
	}},
	"the model stalls and is cancelled": {tell: func(c *caller) {
		c.say("please stall")
		c.begin()
		c.send(&wire.ResponseCancel{})
		c.Expect(nextOf[*wire.ResponseDone](c).Response.StatusDetails.Reason).To(gomega.Equal("client_cancelled"))
	}},
	"the model stalls and the user talks over it": {tell: func(c *caller) {
		c.say("please stall")
		c.begin()
		c.say("never mind, let us go on")
		c.Expect(nextOf[*wire.ResponseDone](c).Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
		c.answer("You said: never mind, let us go on")
	}},
	"the model stops at the limit": {
		script: "model: {replies: [{when: {contains: long}, say: as far as I can, cut: true}]}",
		tell: func(c *caller) {
			c.say("a long one")
			done := nextOf[*wire.ResponseDone](c)
			c.Expect(done.Response.Status).To(gomega.Equal("incomplete"))
			c.Expect(done.Response.StatusDetails.Reason).To(gomega.Equal("max_output_tokens"))
			c.next("output_audio_buffer.stopped")
			c.hear(time.Duration(len("as far as I can"))*scripted.Character - 60*time.Millisecond)
			c.settled += c.heard()
		},
	},
}

var recogniserStories = map[string]stageStory{
	"the recogniser fails": {
		script: "transcriber: {rules: [{when: {contains: mumble}, fail: it was mumbled}]}",
		tell: func(c *caller) {
			c.say("mumble")
			failed := nextOf[*wire.ConversationItemInputAudioTranscriptionFailed](c)
			c.Expect(failed.Error.Message).To(gomega.ContainSubstring("it was mumbled"))
		},
	},
	"the recogniser hangs": {
		script: "transcriber: {rules: [{when: {contains: mumble}, stall: true}]}",
		tell: func(c *caller) {
			c.say("mumble")
			failed := nextOf[*wire.ConversationItemInputAudioTranscriptionFailed](c)
			c.Expect(failed.Error.Message).To(gomega.ContainSubstring("did not answer in time"))
		},
	},
	"the recogniser is slow and the next turn comes": {
		script: "transcriber: {rules: [{when: {contains: mumble}, delay: 3s}]}",
		tell: func(c *caller) {
			c.say("mumble")
			c.next("input_audio_buffer.committed")
			c.say("and then")
			c.next("input_audio_buffer.committed")
			c.Eventually(func() []string { return c.transcripts(0) }, patience).Should(gomega.ConsistOf("mumble", "and then"))
			c.answer("You said: and then")
		},
	},
	"the recogniser has no live results": {
		script: "transcriber: {offline: true}",
		tell:   func(c *caller) { c.voiceTurn("later is fine") },
	},
}

var synthesizerStories = map[string]stageStory{
	"the synthesizer fails in the middle": {
		script: "synthesizer: {rules: [{when: {contains: croak}, after: 300ms, fail: no voice left}]}",
		tell: func(c *caller) {
			c.say("croak")
			done := nextOf[*wire.ResponseDone](c)
			c.Expect(done.Response.Status).To(gomega.Equal("failed"))
			c.Expect(done.Response.StatusDetails.Error.Code).To(gomega.Equal("synthesizer_failed"))
			c.next("output_audio_buffer.stopped")
			c.next("conversation.item.truncated")
			c.hear(300 * time.Millisecond)
			c.settled += c.heard()
		},
	},
	"the synthesizer hangs and the user talks over it": {
		script: "synthesizer: {rules: [{when: {contains: croak}, after: 300ms, stall: true}]}",
		tell: func(c *caller) {
			c.say("croak")
			c.begin()
			c.hear(200 * time.Millisecond)
			c.say("never mind, let us go on")
			c.Expect(nextOf[*wire.ResponseDone](c).Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
			c.heardBefore = time.Duration(nextOf[*wire.ConversationItemTruncated](c).AudioEndMS) * time.Millisecond
			c.answer("You said: never mind, let us go on")
		},
	},
}

// TestStagesThatFail: whatever a stage does, the client gets an error, the response or the turn ends, and the session goes on.
func TestStagesThatFail(t *testing.T) {
	t.Parallel()
	for _, stories := range []map[string]stageStory{modelStories, recogniserStories, synthesizerStories} {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := gomega.NewWithT(t)
				script, err := scripted.Parse(name, []byte("pipeline: scripted\n"+story.script))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				h := open(t, script, nil)
				c := call(t, callOptions{url: h.url})
				story.tell(c)
				c.voiceTurn("we go on")
			})
		}
	}
}

// TestMissingStages: without a recogniser or a synthesizer the session says what is missing, and answers text by text.
func TestMissingStages(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	script, err := scripted.Parse("missing", []byte("transcriber: {missing: apt-get install recogniser}\nsynthesizer: {missing: apt-get install synthesizer}"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h := open(t, script, nil)
	c := call(t, callOptions{url: h.url})
	c.say("does anybody hear me")
	failed := nextOf[*wire.ConversationItemInputAudioTranscriptionFailed](c)
	c.Expect(failed.Error.Message).To(gomega.ContainSubstring("apt-get install recogniser"))
	c.ask("alive?")
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(done.Response.OutputModalities).To(gomega.Equal([]string{"text"}))
	c.Expect(done.Response.Output[0].Content[0].Text).To(gomega.Equal("You said: alive?"))
	c.Expect(c.RefreshPipeline(t.Context())).To(gomega.Succeed())
	c.Eventually(func() bool { return c.Snapshot().Pipeline.Known }, patience).Should(gomega.BeTrue())
	for i, missing := range []string{"apt-get install recogniser", "", "apt-get install synthesizer"} {
		c.Expect(c.Snapshot().Pipeline.Components[i].Install).To(gomega.Equal(missing))
	}
}

// TestStagesThatReturnGarbage: garbage from a stage breaks neither the protocol nor the next turn.
func TestStagesThatReturnGarbage(t *testing.T) {
	t.Parallel()
	good := scripted.New(scripted.Options{})
	h := open(t, nil, func(c *server.Config) {
		bad := *good
		bad.Model, bad.Synthesizer = madModel{good.Model}, madSynthesizer{good.Synthesizer}
		c.Pipeline = &bad
	})
	c := call(t, callOptions{url: h.url})
	c.ask("be mad in calls")
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(done.Response.Status).To(gomega.Equal("completed"))
	c.Expect(len(done.Response.Output)).To(gomega.BeNumerically("<=", 64))
	c.ask("be mad in words")
	c.begin()
	c.hear(time.Second)
	c.send(&wire.ResponseCancel{})
	c.next("response.done")
	c.send(&wire.OutputAudioBufferClear{})
	cut := nextOf[*wire.ConversationItemTruncated](c)
	c.heardBefore = time.Duration(cut.AudioEndMS) * time.Millisecond
	c.voiceTurn("we go on")
}

// madModel returns garbage when the text asks for it.
type madModel struct{ pipeline.Model }

// Generate implements pipeline.Model.
func (m madModel) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	last := r.Messages[len(r.Messages)-1].Text
	if !strings.Contains(last, "mad") {
		return m.Model.Generate(ctx, r, emit)
	}
	events := []pipeline.ModelEvent{
		pipeline.TextDelta{},
		pipeline.TextDelta{Text: "\xff\xfe\x00\u2028</script>\"\\"},
		pipeline.TextDelta{Text: "caf\xc3"},
		pipeline.TextDelta{Text: "\xa9, \xe4"},
		pipeline.TextDelta{Text: strings.Repeat("mad ", 200)},
	}
	if strings.Contains(last, "calls") {
		events = []pipeline.ModelEvent{
			pipeline.ToolCallDelta{Index: -1, Name: "", Arguments: "{"},
			pipeline.ToolCallDone{Index: 1 << 40, Name: "\xff", Arguments: "not JSON"},
			pipeline.ToolCallDone{Index: 3},
			pipeline.ToolCallDelta{Index: 3, Arguments: "late"},
			pipeline.ToolCallDone{Index: 3},
		}
		for i := range 200 {
			events = append(events, pipeline.ToolCallDone{Index: 10 + i, Name: "nobody", Arguments: "{}"})
		}
	}
	for _, e := range events {
		if err := emit(e); err != nil {
			return pipeline.Usage{}, err
		}
	}
	return pipeline.Usage{InputTokens: -5, OutputTokens: 1 << 40}, nil
}

// madSynthesizer returns empty audio and then ten seconds at once, when the text asks for it.
type madSynthesizer struct{ pipeline.Synthesizer }

// Synthesize implements pipeline.Synthesizer.
func (v madSynthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if !strings.Contains(u.Text, "mad") {
		return v.Synthesizer.Synthesize(ctx, u, emit)
	}
	pcm := make([]int16, 10*pipeline.OutputRate)
	for i := range pcm {
		pcm[i] = int16(i%200) * 100
	}
	for _, chunk := range [][]int16{nil, {}, pcm[:1], pcm} {
		if err := emit(chunk); err != nil {
			return err
		}
	}
	return nil
}
