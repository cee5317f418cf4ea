package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

// TestRandomCoughs: whoever notices whatever when, and however long everything takes, the ear gets every word at full level in the
// end, in order. A failure names its seed.
func TestRandomCoughs(t *testing.T) {
	for seed := range uint64(20) {
		story(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			ms := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
			p := byPredictor(t, plain(), trip{ms(1, 150), ms(1, 150), ms(21, 250)})
			p.ask("say 60 words")
			first(p.caller, "output_audio_buffer.started")
			wait(ms(300, 2000))
			for range 10 {
				switch r.IntN(5) {
				case 0: // the client alone hears something
					p.onset()
				case 1: // the server alone does
					p.speak(grunt())
				case 2: // both, the client first
					p.onset()
					wait(ms(1, 100))
					p.speak(grunt())
				case 3: // both, the server first
					p.speak(grunt())
					p.onset()
				case 4: // and again, before the verdict
					p.onset()
					p.speak(grunt())
					p.quiet(r.IntN(300))
					p.onset()
				}
				p.quiet(500 + r.IntN(1000)) // sounds that follow each other sooner are a voice
			}
			p.quiet(2000)
			p.saidToItsEnd(len(p.pacer.resumes()))
		})
	}
}

// TestRandomInterruptions: at whatever moment somebody interrupts, the reply is cut where the ear stopped hearing it, and
// nothing of it is heard any more.
func TestRandomInterruptions(t *testing.T) {
	for seed := range uint64(20) {
		story(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			ms := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
			p := byPredictor(t, plain(), trip{ms(1, 150), ms(1, 150), ms(21, 250)})
			p.ask("say 40 words")
			first(p.caller, "output_audio_buffer.started")
			wait(ms(300, 3000))
			if r.IntN(2) == 0 {
				p.onset()
				p.speak(grunt())
				p.quiet(r.IntN(900))
			}
			if r.IntN(3) > 0 { // else its own detector does not hear it
				p.onset()
			}
			p.speak(scripted.Tones("stop it now please"))
			p.quiet(700)
			p.truncatedWhereHeard()
			first(p.caller, "output_audio_buffer.stopped")
			p.restsAtFull()
		})
	}
}
