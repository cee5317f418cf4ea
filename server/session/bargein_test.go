package session

import (
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/server/session/speech"
	"github.com/antiphon-rt/antiphon/wire"
)

// grunt is a voice that is too short, and means nothing.
func grunt() []int16 { return scripted.Tones("a")[:24*150] }

// talking is a predictor whose agent says text for a while already.
func talking(t *testing.T, words string, far trip) *predictor {
	t.Helper()
	p := byPredictor(t, plain(), far)
	p.ask("say " + words + " words")
	first(p.caller, "output_audio_buffer.started")
	p.quiet(4000)
	return p
}

// saidToItsEnd waits for the end of the reply, and checks that the ear got all of it.
func (p *predictor) saidToItsEnd(resumes int) {
	p.t.Helper()
	p.read = 0
	done := next[*wire.ResponseDone](p.caller, "response.done").Response
	first(p.caller, "output_audio_buffer.stopped")
	wait(5 * time.Second)
	p.g.Expect(done.Status).To(gomega.Equal("completed"))
	p.wholly(*done.Output[0].Content[0].Transcript, resumes)
	p.g.Expect(p.names()).NotTo(gomega.ContainElement("output_audio_buffer.cleared"))
	p.restsAtFull()
}

// restsAtFull checks that the client waits for nothing.
func (p *predictor) restsAtFull() {
	p.t.Helper()
	l, st := p.loudness()
	p.g.Expect(l).To(gomega.Equal(full))
	p.g.Expect(bargein.Pending(st)).To(gomega.BeZero())
}

// rejected are the candidates that were rejected, in order.
func (p *predictor) rejections() (out []int) {
	for _, e := range p.all() {
		if r, is := e.(*wire.AntiphonBargeInRejected); is {
			out = append(out, r.Candidate)
		}
	}
	return out
}

// truncatedWhereHeard checks that the interrupted reply is cut where the ear stopped hearing it.
func (p *predictor) truncatedWhereHeard() {
	p.t.Helper()
	at := next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS
	last, begun := 0, p.pacer.begins()
	for _, h := range p.ear() {
		if len(begun) < 2 || h.gen < begun[1] {
			last = h.pos
		}
	}
	p.g.Expect(at).To(gomega.BeNumerically("~", last/24, 40))
}

func TestPredictedCough(t *testing.T) {
	for _, row := range []struct {
		name  string
		far   trip
		sound []int16 // as the server hears it
	}{
		{"one that the server hears", near(), grunt()},
		{"one that the server does not hear", near(), make([]int16, 24*150)},
		{"far away", trip{100 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}, grunt()},
		{"with a short way for sound", trip{20 * time.Millisecond, 120 * time.Millisecond, 21 * time.Millisecond}, grunt()},
		{"the server's own onset comes first", trip{200 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}, grunt()},
	} {
		story(t, row.name+"->not a word is lost", func(t *testing.T) {
			p := talking(t, "20", row.far)
			wait(40 * time.Millisecond)
			p.onset()
			if row.far.up < 150*time.Millisecond {
				wait(row.far.up)
			}
			p.speak(row.sound)
			p.quiet(1500)
			p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
			p.saidToItsEnd(1)
			p.g.Expect(p.names()).NotTo(gomega.ContainElement("input_audio_buffer.speech_started"))
		})
	}

	story(t, "it is answered with the first silent packet, and goes on when the client is ready", func(t *testing.T) {
		p := talking(t, "20", near())
		p.onset()
		wait(200 * time.Millisecond)
		sent := p.ear()
		last := sent[len(sent)-1]
		p.g.Expect(p.acked[1]).To(gomega.Equal(last.ts + packetTicks))
		p.g.Expect(p.ready[1]).To(gomega.Equal(p.marks[1]), "what was heard before the level went down")
		p.g.Expect(last.level).To(gomega.Equal(ducked))
		p.quiet(1500)
		at := slices.IndexFunc(p.ear(), func(h listened) bool { return h.ts > last.ts })
		p.g.Expect(p.ear()[at].level).To(gomega.Equal(full))
		p.saidToItsEnd(1)
	})

	story(t, "two in a row", func(t *testing.T) {
		p := talking(t, "30", near())
		for range 2 {
			p.onset()
			p.speak(grunt())
			p.quiet(900)
		}
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1, 2}))
		p.saidToItsEnd(2)
	})
}

// TestPredictedCoughAtTheEdges: a cough over a client that reports little, and over the last words.
func TestPredictedCoughAtTheEdges(t *testing.T) {
	story(t, "a client that does not say what it heard holds nothing up", func(t *testing.T) {
		p := talking(t, "20", near())
		p.noReady = true
		p.onset()
		p.speak(grunt())
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.saidToItsEnd(1) // from where the candidate came
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "a client whose timestamps mean nothing", func(t *testing.T) {
		p := talking(t, "20", near())
		p.noReady = true
		p.candidateOf("1", p.playing(), `,"rtp_timestamp":7`)
		p.send(`{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":4000000000}`)
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.saidToItsEnd(0)
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "over the last words, of which all were sent", func(t *testing.T) {
		p := byPredictor(t, plain(), trip{20 * time.Millisecond, 20 * time.Millisecond, 400 * time.Millisecond})
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		wait(100 * time.Millisecond)
		p.onset()
		p.speak(grunt())
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		wait(5 * time.Second)
		p.wholly("One two three four.", 1)
		p.restsAtFull()
		p.g.Expect(p.count("antiphon.turn.metrics")).To(gomega.BeZero())
	})
}

func TestPredictedInterruption(t *testing.T) {
	for _, row := range []struct {
		name string
		far  trip
	}{
		{"near", near()},
		{"far away", trip{100 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond}},
		{"with a short way for sound", trip{20 * time.Millisecond, 120 * time.Millisecond, 21 * time.Millisecond}},
		{"with a slow client", trip{300 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}},
	} {
		story(t, row.name+"->the reply is cut where it was heard", func(t *testing.T) {
			p := talking(t, "40", row.far)
			p.says(scripted.Tones("stop it now please"))
			p.truncatedWhereHeard()
			next[*wire.ResponseDone](p.caller, "response.done")
			p.g.Expect(p.rejections()).To(gomega.BeEmpty())
			p.restsAtFull()
			p.g.Expect(p.since("input_audio_buffer.speech_started")[:7]).To(gomega.HaveExactElements(
				"output_audio_buffer.cleared", "response.output_audio.done", "response.output_audio_transcript.done",
				"response.content_part.done", "response.output_item.done", "conversation.item.done", "response.done"))
			first(p.caller, "output_audio_buffer.stopped")
			wait(time.Second)
			heard := p.ear()
			p.g.Expect(heard[len(heard)-1].level).To(gomega.Equal(full), "the answer")
		})
	}

	story(t, "the answer waits for what was heard, and no longer than it may", func(t *testing.T) {
		p := talking(t, "40", near())
		p.noHeard = true
		p.roundTrip.Store(int64(2 * time.Second))
		p.says(scripted.Tones("stop it now please"))
		first(p.caller, "output_audio_buffer.stopped")
		names := p.names()
		p.g.Expect(slices.Index(names, "conversation.item.truncated")).To(gomega.BeNumerically("<", lastIndex(names, "output_audio_buffer.started")))
		p.g.Expect(slices.Index(names, "conversation.item.truncated")).To(gomega.BeNumerically(">", slices.Index(names, "input_audio_buffer.committed")),
			"it was waited for 2.3 s")
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "confirmed in the silence after its only word, the turn ends", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.utter("say 40 words") // a turn that has ended in a pause
		first(p.caller, "output_audio_buffer.started")
		p.quiet(3000)
		p.onset()
		p.quiet(50)
		p.speak(scripted.Tones("stop")[:24*250])
		p.quiet(100)
		p.s.post(speechEvent{speech.Partial{Turn: 2, Text: "stop"}})
		p.quiet(1500)
		p.g.Expect(p.count("input_audio_buffer.speech_started")).To(gomega.Equal(2))
		p.g.Expect(p.count("input_audio_buffer.committed")).To(gomega.Equal(2))
		p.truncatedWhereHeard()
	})
}

// TestPredictedInterruptionOfTheEnd: an interruption of what has nearly been said.
func TestPredictedInterruptionOfTheEnd(t *testing.T) {
	story(t, "an answer of one word that comes early", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		p.onset()
		p.speak(scripted.Tones("yes"))
		p.quiet(900)
		p.g.Expect(p.count("input_audio_buffer.committed")).To(gomega.Equal(1))
		first(p.caller, "output_audio_buffer.stopped")
	})

	story(t, "over the last words, which were heard all the same", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		p.onset()
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.g.Expect(p.count("input_audio_buffer.speech_started")).To(gomega.Equal(1))
		p.g.Expect(p.count("conversation.item.truncated")).To(gomega.BeZero(), "nothing is cut")
		first(p.caller, "output_audio_buffer.stopped")
		p.restsAtFull()
	})

	story(t, "over the last words, of which all were sent", func(t *testing.T) {
		p := byPredictor(t, plain(), trip{20 * time.Millisecond, 20 * time.Millisecond, time.Second})
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		wait(50 * time.Millisecond)
		p.onset()
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.truncatedWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
		p.restsAtFull()
	})
}

func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// candidateOf says that somebody may interrupt the reply that plays, past the machine.
func (p *predictor) candidateOf(n, response, rest string) {
	p.send(`{"type":"antiphon.barge_in.candidate","event_id":"raw","candidate":` + n + `,"response_id":"` + response + `"` + rest + `}`)
}

func TestCandidatesOfNothing(t *testing.T) {
	// What is stale, said twice, or means nothing is answered, and changes nothing.
	for _, row := range []struct {
		name string
		say  func(p *predictor, playing string)
		acks int
	}{
		{"of nobody", func(p *predictor, _ string) { p.candidateOf("1", "resp_of_nobody", `,"rtp_timestamp":6000`) }, 1},
		{"of no name", func(p *predictor, _ string) { p.candidateOf("1", "", "") }, 1},
		{"without a number", func(p *predictor, playing string) { p.candidateOf("0", playing, "") }, 1},
		{"below nothing", func(p *predictor, playing string) { p.candidateOf("-7", playing, `,"rtp_timestamp":-1`) }, 1},
		{"a ready that nobody awaits", func(p *predictor, _ string) {
			p.send(`{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":6000}`)
		}, 0},
		{"a heard of what goes on", func(p *predictor, playing string) {
			p.send(`{"type":"antiphon.barge_in.heard","response_id":"` + playing + `","rtp_timestamp":6000}`)
		}, 0},
	} {
		story(t, row.name, func(t *testing.T) {
			p := talking(t, "20", near())
			before := p.count("antiphon.ack")
			row.say(p, p.playing())
			p.quiet(1500)
			p.g.Expect(p.count("antiphon.ack") - before).To(gomega.Equal(row.acks))
			p.g.Expect(p.count("error")).To(gomega.BeZero())
			p.saidToItsEnd(0)
			p.pacer.wholly(p.g, "One two three four, five six seven eight. Nine ten eleven twelve, thirteen fourteen fifteen sixteen. "+
				"Seventeen eighteen nineteen twenty.")
			p.pacer.mu.Lock()
			defer p.pacer.mu.Unlock()
			p.g.Expect(p.pacer.again).To(gomega.BeEmpty(), "nothing was held")
		})
	}

	story(t, "said twice, and older than the newest", func(t *testing.T) {
		p := talking(t, "20", near())
		p.onset()
		wait(100 * time.Millisecond)
		for _, n := range []string{"1", "1", "0"} {
			p.candidateOf(n, p.playing(), "")
		}
		p.send(`{"type":"antiphon.barge_in.ready","candidate":7,"rtp_timestamp":5001}`)
		p.speak(grunt())
		p.quiet(1000)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.saidToItsEnd(1)
	})

	story(t, "of a reply that is interrupted already: the confirm is the answer", func(t *testing.T) {
		p := talking(t, "40", near())
		p.speak(scripted.Tones("stop it now please"))
		cleared := next[*wire.OutputAudioBufferCleared](p.caller, "output_audio_buffer.cleared")
		before := p.count("antiphon.ack")
		p.candidateOf("5", cleared.ResponseID, `,"rtp_timestamp":6000`)
		p.quiet(700)
		p.g.Expect(p.count("antiphon.ack")).To(gomega.Equal(before))
		p.truncatedWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
	})

	story(t, "of a reply that was heard to its end", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		id := next[*wire.OutputAudioBufferStopped](p.caller, "output_audio_buffer.stopped").ResponseID
		wait(3 * time.Second)
		p.candidateOf("1", id, `,"rtp_timestamp":6000`)
		p.g.Expect(next[*wire.AntiphonAck](p.caller, "antiphon.ack").RTPTimestamp).NotTo(gomega.BeZero(), "silent since then")
		first(p.caller, "antiphon.barge_in.rejected")
	})
}

// TestCandidatesOfNobody: candidates of those who may not interrupt.
func TestCandidatesOfNobody(t *testing.T) {
	story(t, "where turns do not interrupt", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.settle(`"audio":{"input":{"turn_detection":{"type":"server_vad","interrupt_response":false}}}`)
		p.ask("say 20 words")
		first(p.caller, "output_audio_buffer.started")
		p.quiet(2000)
		p.onset()
		p.quiet(200)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}), "at once")
		p.g.Expect(next[*wire.AntiphonAck](p.caller, "antiphon.ack").RTPTimestamp).To(gomega.BeZero(), "no packet is silent")
		first(p.caller, "output_audio_buffer.stopped")
		p.pacer.mu.Lock()
		defer p.pacer.mu.Unlock()
		p.g.Expect(p.pacer.again).To(gomega.BeEmpty())
	})

	story(t, "from a client that has not said that it predicts", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.barge_in.candidate","event_id":"mine","candidate":1,"response_id":"x"}`)
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(e.Code).To(gomega.Equal("unsupported_event"))
		c.g.Expect(e.EventID).To(gomega.HaveValue(gomega.Equal("mine")))
	})

	story(t, "from who controls the call from the side", func(t *testing.T) {
		p := talking(t, "20", near())
		from := p.side(true)
		from.send(`{"type":"antiphon.hello","event_id":"side"}`)
		p.g.Expect((<-from.told).Type()).To(gomega.Equal("antiphon.ack"))
		from.refused(`{"type":"antiphon.barge_in.candidate","candidate":1,"response_id":"x"}`, "unsupported_event")
		p.g.Expect(p.count("error")).To(gomega.BeZero(), "it is not the client's")
		p.onset() // the caller predicts all the same
		p.speak(grunt())
		p.quiet(1000)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.saidToItsEnd(1)
	})
}

// playing is the name of the first reply.
func (p *predictor) playing() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replies[0]
}
