package session

// Barge-in with a client that predicts: coughs lose no word, interruptions cut at the played position, stale candidates change
// nothing.

import (
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// shortSound returns 150 ms of sound: too short for speech, and not a word.
func shortSound() []int16 { return scripted.Tones("a")[:24*150] }

// longSound returns 480 ms of sound: like a voice for so long that the response falls silent, but too short for speech, and not a word.
func longSound() []int16 { return scripted.Tones("a long sound")[:24*480] }

// whileSpeaking places a call of a client that predicts, asks for this many words, and returns after 4 s, while the agent speaks.
func whileSpeaking(t *testing.T, words string, far delays) *predictor {
	t.Helper()
	p := byPredictor(t, plain(), far)
	p.ask("say " + words + " words")
	first(p.caller, "output_audio_buffer.started")
	p.quiet(4000)
	return p
}

// expectPlayedToItsEnd waits for the end of the response, and checks that all of it was played at full level. resumes is how often
// playout resumed in it.
func (p *predictor) expectPlayedToItsEnd(resumes int) {
	p.t.Helper()
	p.Rewind()
	done := next[*wire.ResponseDone](p.caller, "response.done").Response
	first(p.caller, "output_audio_buffer.stopped")
	wait(5 * time.Second)
	p.g.Expect(done.Status).To(gomega.Equal("completed"))
	p.expectWhole(*done.Output[0].Content[0].Transcript, resumes)
	p.g.Expect(p.Names()).NotTo(gomega.ContainElement("output_audio_buffer.cleared"))
	p.expectFullLevel()
}

// expectFullLevel checks that the client plays at full level and has no pending candidate.
func (p *predictor) expectFullLevel() {
	p.t.Helper()
	l, st := p.loudness()
	p.g.Expect(l).To(gomega.Equal(full))
	p.g.Expect(bargein.Pending(st)).To(gomega.BeZero())
}

// rejections returns the candidates that the server has rejected, in order.
func (p *predictor) rejections() (out []int) {
	for _, e := range p.All() {
		if r, is := e.(*wire.AntiphonBargeInRejected); is {
			out = append(out, r.Candidate)
		}
	}
	return out
}

// expectCutWhereHeard checks that the item of the interrupted response is cut at the played position, within 40 ms.
func (p *predictor) expectCutWhereHeard() {
	p.t.Helper()
	at := next[*wire.ConversationItemTruncated](p.caller, "conversation.item.truncated").AudioEndMS
	last, begun := 0, p.pacer.begins()
	for _, h := range p.played() {
		if len(begun) < 2 || h.gen < begun[1] {
			last = h.pos
		}
	}
	p.g.Expect(at).To(gomega.BeNumerically("~", last/24, 40))
}

func TestPredictedCough(t *testing.T) {
	for _, row := range []struct {
		name  string
		far   delays
		sound []int16 // as the server gets it
	}{
		{"one that the server detects", near(), shortSound()},
		{"one that the server does not detect", near(), make([]int16, 24*150)},
		{"far away", delays{100 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}, shortSound()},
		{"with sound that is faster than events", delays{20 * time.Millisecond, 120 * time.Millisecond, 21 * time.Millisecond}, shortSound()},
		{"the server's own onset comes first", delays{200 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}, shortSound()},
	} {
		story(t, row.name+"->every word is played", func(t *testing.T) {
			p := whileSpeaking(t, "20", row.far)
			wait(40 * time.Millisecond)
			p.onset()
			if row.far.up < 150*time.Millisecond {
				wait(row.far.up)
			}
			p.speak(row.sound)
			p.quiet(1500)
			p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
			p.expectPlayedToItsEnd(1)
			p.g.Expect(p.Names()).NotTo(gomega.ContainElement("input_audio_buffer.speech_started"))
		})
	}

	story(t, "the answer names the first silent packet, and playout resumes when the client is ready", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		p.onset()
		p.speak(longSound())
		wait(100 * time.Millisecond)
		sent := p.played()
		last := sent[len(sent)-1]
		p.g.Expect(p.acked[1]).To(gomega.Equal(last.ts + packetTicks))
		p.g.Expect(p.ready[1]).To(gomega.Equal(p.marks[1]), "the position before the client ducked")
		p.g.Expect(last.level).To(gomega.Equal(ducked))
		p.quiet(1500)
		at := slices.IndexFunc(p.played(), func(h playedPacket) bool { return h.ts > last.ts })
		p.g.Expect(p.played()[at].level).To(gomega.Equal(full))
		p.expectPlayedToItsEnd(1)
	})

	story(t, "what only the client has silenced is said again", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		p.onset()
		p.speak(shortSound())
		p.sustained()
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.g.Expect(p.ready[1]).To(gomega.Equal(p.marks[1]), "the position before the client ducked")
		p.expectPlayedToItsEnd(2)
	})

	story(t, "two coughs in a row", func(t *testing.T) {
		p := whileSpeaking(t, "30", near())
		for range 2 {
			p.onset()
			p.speak(shortSound())
			p.quiet(900)
		}
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1, 2}))
		p.expectPlayedToItsEnd(2)
	})
}

// TestPredictedCoughOverTheLastWords: a cough with a client that reports little, and a cough over the last words.
func TestPredictedCoughOverTheLastWords(t *testing.T) {
	story(t, "a client that does not report its position delays nothing", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		p.noReady = true
		p.onset()
		p.speak(longSound())
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.expectPlayedToItsEnd(1) // playout resumes at the position of the candidate
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "a client whose timestamps are wrong", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		p.noReady = true
		p.candidateOf("1", p.playing(), `,"rtp_timestamp":7`)
		p.speak(longSound())
		p.send(`{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":4000000000}`)
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.expectPlayedToItsEnd(11) // from where it was held: perhaps the client has ducked since
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "over the last words, when all audio has been sent", func(t *testing.T) {
		p := byPredictor(t, plain(), delays{20 * time.Millisecond, 20 * time.Millisecond, 400 * time.Millisecond})
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		wait(100 * time.Millisecond)
		p.onset()
		p.speak(shortSound())
		p.quiet(1500)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		wait(5 * time.Second)
		p.expectWhole("One two three four.", 1)
		p.expectFullLevel()
		p.g.Expect(p.count("antiphon.turn.metrics")).To(gomega.BeZero())
	})
}

func TestPredictedInterruption(t *testing.T) {
	for _, row := range []struct {
		name string
		far  delays
	}{
		{"near", near()},
		{"far away", delays{100 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond}},
		{"with sound that is faster than events", delays{20 * time.Millisecond, 120 * time.Millisecond, 21 * time.Millisecond}},
		{"with a slow client", delays{300 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}},
	} {
		story(t, row.name+"->the response is cut where it was heard", func(t *testing.T) {
			p := whileSpeaking(t, "40", row.far)
			p.says(scripted.Tones("stop it now please"))
			p.expectCutWhereHeard()
			next[*wire.ResponseDone](p.caller, "response.done")
			p.g.Expect(p.rejections()).To(gomega.BeEmpty())
			p.expectFullLevel()
			p.g.Expect(p.since("input_audio_buffer.speech_started")[:7]).To(gomega.HaveExactElements(
				"output_audio_buffer.cleared", "response.output_audio.done", "response.output_audio_transcript.done",
				"response.content_part.done", "response.output_item.done", "conversation.item.done", "response.done"))
			first(p.caller, "output_audio_buffer.stopped")
			wait(time.Second)
			heard := p.played()
			p.g.Expect(heard[len(heard)-1].level).To(gomega.Equal(full), "the answer")
		})
	}

	story(t, "the answer waits for the report, but not longer than the limit", func(t *testing.T) {
		p := whileSpeaking(t, "40", near())
		p.noHeard = true
		p.roundTrip.Store(int64(2 * time.Second))
		p.says(scripted.Tones("stop it now please"))
		first(p.caller, "output_audio_buffer.stopped")
		names := p.Names()
		p.g.Expect(slices.Index(names, "conversation.item.truncated")).To(gomega.BeNumerically("<", lastIndex(names, "output_audio_buffer.started")))
		p.g.Expect(slices.Index(names, "conversation.item.truncated")).To(gomega.BeNumerically(">", slices.Index(names, "input_audio_buffer.committed")),
			"the server waits 2.3 s for the report")
		p.s.Close(0)
		<-p.s.Done()
		p.g.Expect(p.s.player.Estimates()).To(gomega.Equal(1))
	})

	story(t, "a candidate confirmed in the silence after its only word ends the turn", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.utter("say 40 words") // this turn ended with a pause
		first(p.caller, "output_audio_buffer.started")
		p.quiet(3000)
		p.onset()
		p.quiet(50)
		p.speak(scripted.Tones("stop")[:24*250])
		p.quiet(100)
		p.s.post(inputEvent{listening.Report{Of: listening.Partial{Turn: 2, Text: "stop"}}})
		p.quiet(1500)
		p.g.Expect(p.count("input_audio_buffer.speech_started")).To(gomega.Equal(2))
		p.g.Expect(p.count("input_audio_buffer.committed")).To(gomega.Equal(2))
		p.expectCutWhereHeard()
	})
}

// TestPredictedInterruptionOfTheLastWords: speech over the last words of a response.
func TestPredictedInterruptionOfTheLastWords(t *testing.T) {
	story(t, "the user answers early, with one word", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		p.onset()
		p.speak(scripted.Tones("yes"))
		p.quiet(900)
		p.g.Expect(p.count("input_audio_buffer.committed")).To(gomega.Equal(1))
		first(p.caller, "output_audio_buffer.stopped")
	})

	story(t, "over the last words, which were played all the same", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		p.onset()
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.g.Expect(p.count("input_audio_buffer.speech_started")).To(gomega.Equal(1))
		p.g.Expect(p.count("conversation.item.truncated")).To(gomega.BeZero(), "nothing is cut")
		first(p.caller, "output_audio_buffer.stopped")
		p.expectFullLevel()
	})

	story(t, "over the last words, when all audio has been sent", func(t *testing.T) {
		p := byPredictor(t, plain(), delays{20 * time.Millisecond, 20 * time.Millisecond, time.Second})
		p.ask("say 4 words")
		first(p.caller, "output_audio_buffer.stopped")
		wait(50 * time.Millisecond)
		p.onset()
		p.speak(scripted.Tones("stop it now please"))
		p.quiet(700)
		p.expectCutWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
		p.expectFullLevel()
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

// candidateOf sends candidate n over this response to the server directly, without the client's machine. rest has more members.
func (p *predictor) candidateOf(n, response, rest string) {
	p.send(`{"type":"antiphon.barge_in.candidate","event_id":"raw","candidate":` + n + `,"response_id":"` + response + `"` + rest + `}`)
}

func TestStaleCandidatesChangeNothing(t *testing.T) {
	// The server acknowledges a candidate that is stale, repeated or meaningless, and changes nothing.
	for _, row := range []struct {
		name string
		say  func(p *predictor, playing string)
		acks int
	}{
		{"of an unknown response", func(p *predictor, _ string) { p.candidateOf("1", "resp_of_nobody", `,"rtp_timestamp":6000`) }, 1},
		{"without a response", func(p *predictor, _ string) { p.candidateOf("1", "", "") }, 1},
		{"without a number", func(p *predictor, playing string) { p.candidateOf("0", playing, "") }, 1},
		{"with a negative number", func(p *predictor, playing string) { p.candidateOf("-7", playing, `,"rtp_timestamp":-1`) }, 1},
		{"a ready event that the server does not await", func(p *predictor, _ string) {
			p.send(`{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":6000}`)
		}, 0},
		{"a heard event for a response that goes on", func(p *predictor, playing string) {
			p.send(`{"type":"antiphon.barge_in.heard","response_id":"` + playing + `","rtp_timestamp":6000}`)
		}, 0},
	} {
		story(t, row.name, func(t *testing.T) {
			p := whileSpeaking(t, "20", near())
			before := p.count("antiphon.ack")
			row.say(p, p.playing())
			p.quiet(1500)
			p.g.Expect(p.count("antiphon.ack") - before).To(gomega.Equal(row.acks))
			p.g.Expect(p.count("error")).To(gomega.BeZero())
			p.expectPlayedToItsEnd(0)
			p.pacer.expectWhole(p.g, "One two three four, five six seven eight. Nine ten eleven twelve, thirteen fourteen fifteen sixteen. "+
				"Seventeen eighteen nineteen twenty.")
			p.pacer.mu.Lock()
			defer p.pacer.mu.Unlock()
			p.g.Expect(p.pacer.repeated).To(gomega.BeEmpty(), "nothing was held")
		})
	}

	story(t, "repeated candidates, and one older than the newest", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		p.onset()
		wait(100 * time.Millisecond)
		for _, n := range []string{"1", "1", "0"} {
			p.candidateOf(n, p.playing(), "")
		}
		p.send(`{"type":"antiphon.barge_in.ready","candidate":7,"rtp_timestamp":5001}`)
		p.speak(shortSound())
		p.quiet(1000)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.expectPlayedToItsEnd(1)
	})

	story(t, "of a response that was cut already: the confirmation is the answer", func(t *testing.T) {
		p := whileSpeaking(t, "40", near())
		p.speak(scripted.Tones("stop it now please"))
		cleared := next[*wire.OutputAudioBufferCleared](p.caller, "output_audio_buffer.cleared")
		before := p.count("antiphon.ack")
		p.candidateOf("5", cleared.ResponseID, `,"rtp_timestamp":6000`)
		p.quiet(700)
		p.g.Expect(p.count("antiphon.ack")).To(gomega.Equal(before))
		p.expectCutWhereHeard()
		first(p.caller, "output_audio_buffer.stopped")
	})

	story(t, "of a response that was played to its end", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.ask("say 4 words")
		id := next[*wire.OutputAudioBufferStopped](p.caller, "output_audio_buffer.stopped").ResponseID
		wait(3 * time.Second)
		p.candidateOf("1", id, `,"rtp_timestamp":6000`)
		p.g.Expect(next[*wire.AntiphonAck](p.caller, "antiphon.ack").RTPTimestamp).NotTo(gomega.BeZero(), "the first silent packet after it")
		first(p.caller, "antiphon.barge_in.rejected")
	})
}

// TestCandidatesThatMayNotInterrupt: settings or clients that do not allow a barge-in candidate.
func TestCandidatesThatMayNotInterrupt(t *testing.T) {
	story(t, "interrupt_response is off", func(t *testing.T) {
		p := byPredictor(t, plain(), near())
		p.settle(`"audio":{"input":{"turn_detection":{"type":"server_vad","interrupt_response":false}}}`)
		p.ask("say 20 words")
		first(p.caller, "output_audio_buffer.started")
		p.quiet(2000)
		p.onset()
		p.quiet(200)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}), "the server rejects it at once")
		p.g.Expect(next[*wire.AntiphonAck](p.caller, "antiphon.ack").RTPTimestamp).To(gomega.BeZero(), "no packet is silent")
		first(p.caller, "output_audio_buffer.stopped")
		p.pacer.mu.Lock()
		defer p.pacer.mu.Unlock()
		p.g.Expect(p.pacer.repeated).To(gomega.BeEmpty())
	})

	story(t, "from a client that has not said that it predicts", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.barge_in.candidate","event_id":"mine","candidate":1,"response_id":"x"}`)
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(e.Code).To(gomega.Equal("unsupported_event"))
		c.g.Expect(e.EventID).To(gomega.HaveValue(gomega.Equal("mine")))
	})

	story(t, "from a side-band controller", func(t *testing.T) {
		p := whileSpeaking(t, "20", near())
		from := p.sideband(true)
		from.send(`{"type":"antiphon.hello","event_id":"side"}`)
		p.g.Expect((<-from.told).Type()).To(gomega.Equal("antiphon.ack"))
		from.refused(`{"type":"antiphon.barge_in.candidate","candidate":1,"response_id":"x"}`, "unsupported_event")
		p.g.Expect(p.count("error")).To(gomega.BeZero(), "the error does not go to the client")
		p.onset() // the primary client still predicts
		p.speak(shortSound())
		p.quiet(1000)
		p.g.Expect(p.rejections()).To(gomega.Equal([]int{1}))
		p.expectPlayedToItsEnd(1)
	})
}

// playing returns the id of the first response.
func (p *predictor) playing() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.responses[0]
}
