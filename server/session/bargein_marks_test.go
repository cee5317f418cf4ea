package session

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// say says a timestamp past the machine.
func say(p *predictor, kind, who string, ts uint32) {
	p.send(fmt.Sprintf(`{"type":"antiphon.barge_in.%s",%s,"rtp_timestamp":%d}`, kind, who, ts))
}

// lowered says that the agent was lowered ten packets ago, as candidate 1. It gives the reply and that packet.
func lowered(p *predictor) (over string, mark packet) {
	over = `"response_id":"` + p.playing() + `"`
	p.pacer.mu.Lock()
	mark = p.pacer.log[len(p.pacer.log)-10]
	p.pacer.mu.Unlock()
	say(p, "candidate", `"candidate":1,`+over, mark.ts)
	p.quiet(100)
	return over, mark
}

// TestMarks: where timestamps lie decides where a reply goes on, or is cut.
func TestMarks(t *testing.T) {
	story(t, "a second candidate in the silence of the first goes on where that one would have", func(t *testing.T) {
		p := talking(t, "20", near())
		over, mark := lowered(p)
		say(p, "ready", `"candidate":1`, mark.ts)
		silent, _ := p.pacer.FirstSilent()
		say(p, "candidate", `"candidate":2,`+over, silent+packetTicks)
		p.quiet(100)
		say(p, "ready", `"candidate":2`, silent+packetTicks)
		sent := int(p.pacer.Sent())
		p.quiet(800)
		p.g.Expect(p.pacer.resumes()).To(gomega.Equal([]int{sent - mark.pos}))
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{2}), "the newer one took the older one's place")
		first(p.caller, "output_audio_buffer.stopped")
	})
	story(t, "a voice that comes late is waited for", func(t *testing.T) {
		p := talking(t, "40", near())
		p.onset()
		p.quiet(290)
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.g.Expect(p.rejections()).To(gomega.BeEmpty())
		p.truncatedWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
	})
}

// TestMarksInTheReplyBefore: the ear is at a reply that has been said, and the next one is under way.
func TestMarksInTheReplyBefore(t *testing.T) {
	// second is the moment at which the first packets of a second reply go out, while the ear is at the first.
	second := func(t *testing.T) (*predictor, string, uint32) {
		t.Helper()
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		first(p.caller, "response.done")
		p.ask("say 30 words")
		first(p.caller, "output_audio_buffer.stopped")
		id := next[*wire.OutputAudioBufferStarted](p.caller, "output_audio_buffer.started").ResponseID
		wait(100 * time.Millisecond)
		p.pacer.mu.Lock()
		defer p.pacer.mu.Unlock()
		at := slices.IndexFunc(p.pacer.log, func(k packet) bool { return k.gen == p.pacer.begun[1] })
		return p, `"response_id":"` + id + `"`, p.pacer.log[at-2].ts
	}
	story(t, "in the reply before it: nothing was heard of this one", func(t *testing.T) {
		p, over, mark := second(t)
		say(p, "candidate", `"candidate":1,`+over, mark)
		p.quiet(100)
		say(p, "ready", `"candidate":1`, mark)
		sent := int(p.pacer.Sent())
		p.g.Expect(sent).NotTo(gomega.BeZero())
		p.quiet(800)
		p.g.Expect(p.pacer.resumes()).To(gomega.Equal([]int{sent}))
		first(p.caller, "output_audio_buffer.stopped")
	})
	story(t, "in the reply before it, of an interruption", func(t *testing.T) {
		p, over, mark := second(t)
		p.noHeard = true
		var speaks sync.WaitGroup
		speaks.Go(func() { p.speak(scripted.Tones("stop it now please")) })
		first(p.caller, "output_audio_buffer.cleared")
		say(p, "heard", over, mark)
		p.g.Expect(next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS).To(gomega.BeZero())
		speaks.Wait()
		p.quiet(700)
		first(p.caller, "output_audio_buffer.stopped")
	})
}

// TestMarksWhereAReplyWasToGoOn: it was taken away again before a word of it was said.
func TestMarksWhereAReplyWasToGoOn(t *testing.T) {
	for name, late := range map[string]bool{"has passed": true, "has not passed": false} {
		story(t, "of an interruption, in a hold that came before a word was said again, which the ear "+name, func(t *testing.T) {
			p := talking(t, "40", near())
			p.noHeard = true
			over, mark := lowered(p)
			silent, _ := p.pacer.FirstSilent()
			say(p, "ready", `"candidate":1`, mark.ts)
			p.quiet(240)
			// What was late comes at once: the candidate is rejected and the next voice heard before a packet goes out.
			voice := scripted.Tones("stop it now please")
			p.s.Audio(append(make([]int16, 24*40), voice[:24*120]...))
			var speaks sync.WaitGroup
			speaks.Go(func() { p.speak(voice[24*120:]) })
			first(p.caller, "output_audio_buffer.cleared")
			at := silent + packetTicks
			if late {
				p.pacer.mu.Lock()
				at = p.pacer.ts - packetTicks
				p.pacer.mu.Unlock()
			}
			say(p, "heard", over, at)
			p.g.Expect(p.pacer.resumes()).To(gomega.HaveLen(1))
			p.g.Expect(next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS).To(gomega.Equal(mark.pos / 24))
			speaks.Wait()
			p.quiet(700)
			first(p.caller, "output_audio_buffer.stopped")
		})
	}
}

// TestPredictionOverWebSocket: the client holds the audio, goes back in it and cuts it by itself.
func TestPredictionOverWebSocket(t *testing.T) {
	place := func(t *testing.T) (*caller, string) {
		t.Helper()
		c := byWebSocket(t, plain())
		c.send(`{"type":"antiphon.hello","event_id":"hello","barge_in":true}`)
		first(c, "antiphon.ack")
		c.ask("say 40 words")
		id := next[*wire.ResponseOutputAudioDelta](c, "response.output_audio.delta").ResponseID
		c.quiet(3000)
		c.send(`{"type":"antiphon.barge_in.candidate","event_id":"over","candidate":3,"response_id":"` + id + `","item_id":"x","heard_ms":2900}`)
		ack := next[*wire.AntiphonAck](c, "antiphon.ack")
		c.g.Expect(ack.Acknowledges).To(gomega.Equal("over"))
		c.g.Expect(ack.RTPTimestamp).To(gomega.BeZero())
		c.send(`{"type":"antiphon.barge_in.ready","candidate":3,"item_id":"x","heard_ms":2900}`)
		return c, id
	}
	story(t, "a cough", func(t *testing.T) {
		c, _ := place(t)
		c.speak(grunt())
		c.quiet(700)
		c.g.Expect(next[*wire.AntiphonBargeInRejected](c, "antiphon.barge_in.rejected").Candidate).To(gomega.Equal(3))
		c.g.Expect(c.count("response.done")).To(gomega.Equal(1))
		c.g.Expect(c.names()).NotTo(gomega.ContainElement(gomega.BeElementOf("input_audio_buffer.speech_started", "conversation.item.truncated")))
	})
	story(t, "an interruption", func(t *testing.T) {
		c, id := place(t)
		c.speak(scripted.Tones("stop it now please"))
		first(c, "input_audio_buffer.speech_started")
		c.send(`{"type":"antiphon.barge_in.heard","response_id":"` + id + `","item_id":"x","heard_ms":3200}`)
		c.quiet(700)
		first(c, "response.done") // the answer: the first response was all sent
		c.g.Expect(c.names()).NotTo(gomega.ContainElement(gomega.BeElementOf("antiphon.barge_in.rejected", "conversation.item.truncated")))
	})
}
