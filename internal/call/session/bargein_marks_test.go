package session

// Tests of the positions in barge-in events: where a response resumes or is cut.

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// sendPosition sends a barge-in event with this timestamp to the server directly, without the client's machine. who has the other
// members.
func sendPosition(p *predictor, kind, who string, ts uint32) {
	p.send(fmt.Sprintf(`{"type":"antiphon.barge_in.%s",%s,"rtp_timestamp":%d}`, kind, who, ts))
}

// sendCandidate reports candidate 1, with the position of ten packets ago, and waits until the response is silent. It returns the member that names the response, and that
// packet.
func sendCandidate(p *predictor) (over string, mark packet) {
	over = `"response_id":"` + p.playing() + `"`
	p.pacer.mu.Lock()
	mark = p.pacer.log[len(p.pacer.log)-10]
	p.pacer.mu.Unlock()
	sendPosition(p, "candidate", `"candidate":1,`+over, mark.ts)
	p.speak(longSound())
	return over, mark
}

// TestPositionsOfCandidates: the reported timestamps decide where a response resumes, or is cut.
func TestPositionsOfCandidates(t *testing.T) {
	story(t, "a second candidate during the silence of the first resumes at the position of the first", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		over, mark := sendCandidate(p)
		sendPosition(p, "ready", `"candidate":1`, mark.ts)
		silent, _ := p.pacer.FirstSilent()
		sendPosition(p, "candidate", `"candidate":2,`+over, silent+packetTicks)
		p.quiet(100)
		sendPosition(p, "ready", `"candidate":2`, silent+packetTicks)
		sent := int(p.pacer.Sent())
		p.quiet(800)
		p.g.Expect(p.pacer.resumes()).To(gomega.Equal([]int{sent - mark.pos}))
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{2}), "the newer candidate replaces the older one")
		first(p.caller, "output_audio_buffer.stopped")
	})
	story(t, "the server waits for speech that arrives late", func(t *testing.T) {
		p := whileSpeaking(t, "40", near())
		p.onset()
		p.quiet(290)
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.g.Expect(p.rejections()).To(gomega.BeEmpty())
		p.expectCutWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
	})
}

// TestPositionsInTheResponseBefore: the far end still hears the response before, while packets of the next response are on their way.
func TestPositionsInTheResponseBefore(t *testing.T) {
	// second waits until the first packets of a second response have been sent, while the far end hears the first response. It returns
	// the member that names the second response, and a timestamp in the first.
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
	story(t, "a candidate there: the response resumes at its beginning", func(t *testing.T) {
		p, over, mark := second(t)
		sendPosition(p, "candidate", `"candidate":1,`+over, mark)
		p.speak(longSound())
		sendPosition(p, "ready", `"candidate":1`, mark)
		sent := int(p.pacer.Sent())
		p.g.Expect(sent).NotTo(gomega.BeZero())
		p.quiet(800)
		p.g.Expect(p.pacer.resumes()).To(gomega.Equal([]int{sent}))
		first(p.caller, "output_audio_buffer.stopped")
	})
	story(t, "a confirmed barge-in there: the item is cut at 0", func(t *testing.T) {
		p, over, mark := second(t)
		p.noHeard = true
		var speaks sync.WaitGroup
		speaks.Go(func() { p.speak(scripted.Tones("stop it now please")) })
		first(p.caller, "output_audio_buffer.cleared")
		sendPosition(p, "heard", over, mark)
		p.g.Expect(next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS).To(gomega.BeZero())
		speaks.Wait()
		p.quiet(700)
		first(p.caller, "output_audio_buffer.stopped")
	})
}

// TestASecondHoldBeforeTheResponseGoesOn: after a rejected candidate the server resumes, and holds again before a packet is sent. The
// client reports a position where the response was to resume.
func TestASecondHoldBeforeTheResponseGoesOn(t *testing.T) {
	for name, late := range map[string]bool{"is in": true, "is before": false} {
		story(t, "the reported position "+name+" the resumed audio", func(t *testing.T) {
			p := whileSpeaking(t, "40", near())
			p.noHeard = true
			over, mark := sendCandidate(p)
			silent, _ := p.pacer.FirstSilent()
			sendPosition(p, "ready", `"candidate":1`, mark.ts)
			p.quiet(240)
			// Late audio arrives at once: the server rejects the candidate and detects the next speech before it sends a packet.
			voice := scripted.Tones("stop it now please")
			p.s.Audio(append(make([]int16, 24*40), voice[:24*120]...))
			var speaks sync.WaitGroup
			speaks.Go(func() { p.speak(voice[24*120:]) })
			first(p.caller, "output_audio_buffer.cleared")
			at, want := silent+packetTicks, mark.pos/24
			if late { // it went on softly, until the sound was like a voice
				want = p.pacer.cutMS()
				p.pacer.mu.Lock()
				at = p.pacer.ts - packetTicks
				p.pacer.mu.Unlock()
			}
			sendPosition(p, "heard", over, at)
			p.g.Expect(p.pacer.resumes()).To(gomega.HaveLen(1))
			p.g.Expect(next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS).To(gomega.Equal(want))
			speaks.Wait()
			p.quiet(700)
			first(p.caller, "output_audio_buffer.stopped")
		})
	}
}

// TestPredictionOverWebSocket: the client has the audio, and holds, rewinds and cuts it by itself.
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
		c.speak(shortSound())
		c.quiet(700)
		c.g.Expect(next[*wire.AntiphonBargeInRejected](c, "antiphon.barge_in.rejected").Candidate).To(gomega.Equal(3))
		c.g.Expect(c.count("response.done")).To(gomega.Equal(1))
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(gomega.BeElementOf("input_audio_buffer.speech_started", "conversation.item.truncated")))
	})
	story(t, "an interruption", func(t *testing.T) {
		c, id := place(t)
		c.speak(scripted.Tones("stop it now please"))
		first(c, "input_audio_buffer.speech_started")
		c.send(`{"type":"antiphon.barge_in.heard","response_id":"` + id + `","item_id":"x","heard_ms":3200}`)
		c.quiet(700)
		first(c, "response.done") // the answer: the first response was all sent
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(gomega.BeElementOf("antiphon.barge_in.rejected", "conversation.item.truncated")))
	})
}

// TestTheEndIsStopped: the user stops a response whose last packets are sent and not heard yet. The server cuts its item where the user has stopped it.
func TestTheEndIsStopped(t *testing.T) {
	story(t, "the item ends where the user has stopped hearing it", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		item := next[*wire.ResponseOutputItemAdded](p.caller, "response.output_item.added").Item.ID
		first(p.caller, "output_audio_buffer.stopped")
		over, sent := `"response_id":"`+p.playing()+`"`, p.pacer.sentMS()
		p.pacer.mu.Lock()
		mark := p.pacer.log[len(p.pacer.log)-10] // 200 ms before the end
		p.pacer.mu.Unlock()
		sendPosition(p, "heard", over, mark.ts)
		truncated := next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated")
		p.g.Expect(truncated.ItemID).To(gomega.Equal(item))
		p.g.Expect(truncated.AudioEndMS).To(gomega.BeNumerically("~", sent-200, 20))
		sendPosition(p, "heard", over, mark.ts)
		p.quiet(100)
		p.g.Expect(p.count("conversation.item.truncated")).To(gomega.Equal(1), "nothing of it is left to cut")
	})
}
