package session

// Random tests of barge-in with a client that predicts: no word is lost, and a cut is at the played position.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// TestRandomCoughs lets the client, the server or both detect coughs at random times, with random delays. In the end the user has
// heard every word in order, at full level or ducked. A failure names its seed. As in TestRandomConversations, a seed decides what the user and
// the client do, but not in which order goroutines run that are due at the same time.
func TestRandomCoughs(t *testing.T) {
	for seed := range rounds(20) {
		story(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			ms := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
			p := byPredictor(t, plain(), delays{ms(1, 150), ms(1, 150), ms(21, 250)})
			p.ask("say 60 words")
			first(p.caller, "output_audio_buffer.started")
			wait(ms(300, 2000))
			for range 10 {
				switch r.IntN(6) {
				case 0: // the client alone finds something
					p.onset()
				case 1: // the server alone finds something
					p.speak(shortSound())
				case 2: // both, the client first
					p.onset()
					wait(ms(1, 100))
					p.speak(shortSound())
				case 3: // both, the server first
					p.speak(shortSound())
					p.onset()
				case 4: // both, and the client silences what the server lets go on
					p.onset()
					p.speak(shortSound())
					p.sustained()
				case 5: // twice, before the verdict
					p.onset()
					p.speak(shortSound())
					p.quiet(r.IntN(300))
					p.onset()
				}
				p.quiet(500 + r.IntN(1000)) // sounds with shorter pauses would be speech
			}
			p.quiet(2000)
			p.expectPlayedToItsEnd(len(p.pacer.resumes()))
		})
	}
}

// TestRandomInterruptions lets the user interrupt at random moments. The response is cut where the user stopped hearing it, and no
// more of it is played.
func TestRandomInterruptions(t *testing.T) {
	for seed := range rounds(20) {
		story(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			ms := func(from, to int) time.Duration { return time.Duration(from+r.IntN(to-from)) * time.Millisecond }
			p := byPredictor(t, plain(), delays{ms(1, 150), ms(1, 150), ms(21, 250)})
			p.ask("say 40 words")
			first(p.caller, "output_audio_buffer.started")
			wait(ms(300, 3000))
			if r.IntN(2) == 0 {
				p.onset()
				p.speak(shortSound())
				p.quiet(r.IntN(900))
			}
			if r.IntN(3) > 0 { // otherwise the client's detector does not find it
				p.onset()
			}
			p.speak(scripted.Tones("stop it now please"))
			p.quiet(700)
			p.expectCutWhereHeard()
			first(p.caller, "output_audio_buffer.stopped")
			p.expectFullLevel()
		})
	}
}
