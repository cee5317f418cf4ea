package server_test

// Stages of the pipeline that fail or are missing, through the whole server.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestModelFails checks that a response whose model or synthesizer fails ends with an error that names the stage, and that the
// session goes on.
func TestModelFails(t *testing.T) {
	for _, row := range []struct {
		name, script string
		code         string
		items        int
	}{
		{"before it says anything", `model: {replies: [{when: {exact: now}, fail: out of tokens}]}`, "model_failed", 0},
		{"in mid-sentence", `model: {replies: [{when: {exact: now}, say: so far so good and, fail: out of tokens}]}`, "model_failed", 1},
		{"after a call", `model: {replies: [{when: {exact: now}, calls: [{name: clock}], fail: out of tokens}]}`, "model_failed", 1},
		{"the synthesizer fails at once", `synthesizer: {rules: [{when: {contains: now}, fail: no breath}]}`, "synthesizer_failed", 1},
		{"the synthesizer fails later", `synthesizer: {rules: [{when: {contains: now}, after: 300ms, fail: no breath}]}`, "synthesizer_failed", 1},
	} {
		story(t, row.name, func(t *testing.T) {
			c := serve(t, byScript(t, row.script), nil).dial()
			c.ask("now")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Status).To(gomega.Equal("failed"))
			c.g.Expect(done.StatusDetails.Type).To(gomega.Equal("failed"))
			c.g.Expect(*done.StatusDetails.Error).To(gomega.Equal(wire.StatusError{Type: "server_error", Code: row.code}))
			c.g.Expect(done.Output).To(gomega.HaveLen(row.items))
			c.g.Expect(doneItems(c)).To(gomega.HaveLen(row.items), "every item that was added is done")
			goesOn(c)
		})
	}

	story(t, "the model is stuck: the client cancels, and the next response comes", func(t *testing.T) {
		c := dial(t)
		c.ask("stall")
		first(c, "response.created")
		wait(10 * time.Second)
		c.g.Expect(count(c, "response.done")).To(gomega.BeZero())
		c.sendText(`{"type":"response.cancel"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		goesOn(c)
	})

	story(t, "the model is stuck: the user barges in although nothing plays yet", func(t *testing.T) {
		c := dial(t)
		c.ask("stall")
		first(c, "response.created")
		c.speak(quiet(300))
		c.speak(scripted.Tones("hello are you there"))
		c.speak(quiet(700))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: hello are you there")))
	})

	story(t, "the synthesizer is stuck: the client cancels, and the next response comes", func(t *testing.T) {
		c := serve(t, byScript(t, `synthesizer: {rules: [{when: {contains: now}, after: 200ms, stall: true}]}`), nil).dial()
		c.ask("now")
		first(c, "response.output_audio.delta")
		wait(10 * time.Second)
		c.sendText(`{"type":"response.cancel"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		goesOn(c)
	})
}

// TestRecogniserFails checks that a turn which cannot be transcribed reports that and gets no answer, and that the next turn gets one.
func TestRecogniserFails(t *testing.T) {
	turn := func(c *client, words string) {
		c.speak(quiet(300))
		c.speak(scripted.Tones(words))
		c.speak(quiet(700))
	}
	for _, row := range []struct{ name, script, says string }{
		{"it fails", `transcriber: {rules: [{when: {exact: now}, fail: the recogniser is closed}]}`, "the recogniser is closed"},
		{"it is stuck", `transcriber: {rules: [{when: {exact: now}, stall: true}]}`, "did not answer in time"},
	} {
		story(t, row.name, func(t *testing.T) {
			c := serve(t, byScript(t, row.script), nil).dial()
			c.settle(transcribed)
			turn(c, "now")
			item := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
			failed := next[*wire.ConversationItemInputAudioTranscriptionFailed](c, "conversation.item.input_audio_transcription.failed")
			c.g.Expect(failed.ItemID).To(gomega.Equal(item))
			c.g.Expect(failed.Error.Message).To(gomega.ContainSubstring(row.says))
			turn(c, "and again")
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
				To(gomega.HaveValue(gomega.Equal("You said: and again")))
			c.g.Expect(count(c, "response.created")).To(gomega.Equal(1))
		})
	}

	story(t, "a session without transcripts gets the error, too", func(t *testing.T) {
		c := serve(t, byScript(t, `transcriber: {rules: [{when: {exact: now}, fail: the recogniser is closed}]}`), nil).dial()
		turn(c, "now")
		c.g.Expect(refused(c, "transcription_failed", "").Message).To(gomega.ContainSubstring("the recogniser is closed"))
		goesOn(c)
	})

	story(t, "five turns wait for the recogniser: none is lost, and the answer comes after all of them", func(t *testing.T) {
		c := serve(t, byScript(t, `transcriber: {delay: 9s}`), nil).dial()
		c.settle(transcribed)
		said := []string{"one", "two", "three", "four", "five"}
		for _, words := range said {
			turn(c, words)
		}
		var texts []string
		for range said {
			texts = append(texts, next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript)
		}
		c.g.Expect(texts).To(gomega.ConsistOf(said))
		first(c, "response.done")
		c.g.Expect(count(c, "conversation.item.input_audio_transcription.failed")).To(gomega.BeZero())
	})

	// The server starts without its packages; text still gets an answer.
	story(t, "the recogniser is not installed", func(t *testing.T) {
		c := serve(t, byScript(t, `transcriber: {missing: apt-get install recogniser}`), nil).dial()
		turn(c, "now")
		c.g.Expect(refused(c, "transcription_failed", "").Message).To(gomega.ContainSubstring("apt-get install recogniser"))
		goesOn(c)
	})
}

func TestSynthesizerIsNotInstalled(t *testing.T) {
	story(t, "responses are text, and say so", func(t *testing.T) {
		c := serve(t, byScript(t, `synthesizer: {missing: apt-get install voice}`), nil).dial()
		c.ask("hello")
		created := next[*wire.ResponseCreated](c, "response.created").Response
		c.g.Expect(created.OutputModalities).To(gomega.Equal([]string{"text"}))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0]).
			To(gomega.Equal(wire.Content{Type: "output_text", Text: "You said: hello"}))
	})
}

func TestWarm(t *testing.T) {
	story(t, "a session begins when the back ends are loaded", func(t *testing.T) {
		h := serve(t, byScript(t, `load: 3s`), nil)
		began := time.Now()
		h.dial()
		c := h.dial()
		c.g.Expect(time.Since(began)).To(gomega.Equal(3*time.Second+20*time.Millisecond), "and the client has had time to listen")
		goesOn(c)
	})

	for _, row := range []struct {
		name string
		warm func(context.Context) error
		says string
	}{
		{"one that does not start is named", func(context.Context) error {
			return &pipeline.StageError{Stage: pipeline.StageModel, Err: errors.New("no memory")}
		}, "no memory"},
		{"one that loads forever does not delay the session", func(ctx context.Context) error {
			<-ctx.Done()
			return &pipeline.StageError{Stage: pipeline.StageModel, Err: ctx.Err()}
		}, "deadline"},
	} {
		story(t, row.name, func(t *testing.T) {
			p := scripted.New(scripted.Options{})
			p.Warm = row.warm
			c := serve(t, p, nil).dial()
			e := refused(c, "backend_unavailable", "")
			c.g.Expect(e.Type).To(gomega.Equal("server_error"))
			c.g.Expect(e.Param).To(gomega.HaveValue(gomega.Equal("model")))
			c.g.Expect(e.Message).To(gomega.ContainSubstring(row.says))
			goesOn(c)
		})
	}

	story(t, "the server does not wait for a client that leaves meanwhile", func(t *testing.T) {
		h := serve(t, byScript(t, `load: 10s`), nil)
		c := h.call()
		c.g.Expect(c.ws.CloseNow()).To(gomega.Succeed())
		began := time.Now()
		h.calls(0)
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", time.Second))
	})
}
