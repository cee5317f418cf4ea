package listening

// A Listening: full buffer, time-outs, slow recognisers and appended audio.

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// half is a Listening and the session's machines, without an actor.
type half struct {
	g         *gomega.WithT
	l         *Listening
	state     coord.State
	events    chan Event
	sent      []string // types of the events for the client, and codes of its failures
	later     []coord.Event
	committed []turn.ID
}

// live runs a test with an input buffer of one second, on a clock of its own. change changes the Listening's
// Parts and the session's settings; nil changes nothing.
func live(t *testing.T, name string, change func(*Parts, *wire.Session), tell func(b *half)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &half{g: gomega.NewWithT(t), events: make(chan Event, 100)}
			p, session := scripted.New(scripted.Options{}), wire.DefaultSession()
			ctx, cancel := context.WithCancel(t.Context())
			parts := Parts{
				Env: env.System(), Log: slog.New(slog.DiscardHandler), Transcriber: p.Transcriber,
				Guard:        watchdog.New(env.System(), watchdog.Defaults()),
				Conversation: conversation.New(env.System(), p.Model),
				Buffer:       room.InputRate, Context: ctx, Post: func(e Event) bool { b.events <- e; return true },
			}
			if change != nil {
				change(&parts, &session)
			}
			parts.Settings = conversation.NewSettings(env.System(), p, session, nil)
			var err error
			b.l, err = NewListening(parts)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.l.Configure()
			b.state = coord.New(b.l.Settings.MachineConfig(false))
			b.step(coord.OfConn{Event: conn.Opened{VAD: session.Audio.Input.TurnDetection != nil}})
			tell(b)
			cancel()
			b.l.Close()
			b.l.Wait()
		})
	})
}

// do performs the actions of the Listening, as the actor does.
func (b *half) do(out room.List) {
	for _, a := range out {
		switch a := a.(type) {
		case room.Send:
			b.sent = append(b.sent, a.Event.Type())
		case room.Answer:
			b.sent = append(b.sent, a.Event.Type())
		case room.Fail:
			b.sent = append(b.sent, a.Failure.Code)
		case room.Step:
			b.step(a.Event)
		case room.StepAt:
			b.step(a.Event)
		case room.Later:
			b.later = append(b.later, a.Event)
		case room.Then:
			b.do(a.Next(&b.state))
		case room.Committed:
			b.committed = append(b.committed, a.Turn)
		}
	}
}

func (b *half) step(e coord.Event) {
	next, effects, _ := coord.Next(b.state, playout.Position{}, e)
	b.state = next
	for _, f := range effects {
		switch f := f.(type) {
		case turn.Effect:
			b.do(b.l.Turn(f, &b.state, Facts{}))
		case transcription.Effect:
			b.do(b.l.Transcription(f, &b.state, Facts{}))
		case conn.StartVAD:
			b.l.StartDetection(&b.state)
		case conn.StopVAD:
			b.l.StopDetection()
		}
	}
}

// audio takes audio of the client's track.
func (b *half) audio(samples int) { b.do(b.l.Audio(make([]int16, samples), &b.state)) }

// openTurn opens a turn that no silence ends.
func (b *half) openTurn() {
	b.step(coord.OfTurn{Event: turn.Onset{}})
	b.l.input.on = false
}

// next waits for the next event that the Listening posts, and handles it.
func (b *half) next() Event {
	e := <-b.events
	b.do(b.l.Handle(e, &b.state, Facts{}))
	return e
}

func TestAFullBuffer(t *testing.T) {
	live(t, "a turn that is longer than the buffer is committed, and goes on in the next", nil, func(b *half) {
		b.openTurn()
		b.audio(room.InputRate)
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(room.InputRate))
		b.g.Expect(b.committed).To(gomega.BeEmpty())
		b.audio(480)
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(480))
		b.g.Expect(b.committed).To(gomega.Equal([]turn.ID{1}))
		b.g.Expect(b.sent).To(gomega.ContainElement("input_audio_buffer.committed"))
	})

	byClient := func(_ *Parts, s *wire.Session) { s.Audio.Input.TurnDetection = nil }
	live(t, "without memory beside its own", func(p *Parts, s *wire.Session) {
		byClient(p, s)
		p.Buffer, p.Memory = MaxBuffer, account.Purse{Budget: account.New(0)}
	}, func(b *half) {
		for range 50 {
			b.audio(room.InputRate)
		}
		b.g.Expect(b.sent).To(gomega.Equal([]string{"input_audio_buffer_full"}))
		b.g.Expect(size(b.l.input.buffer.Len())).To(gomega.And(gomega.BeNumerically("<=", ownAudio), gomega.BeNumerically(">", ownAudio/2)))
	})
	live(t, "a client that commits by itself keeps its newest audio, and gets one failure", byClient, func(b *half) {
		b.audio(room.InputRate)
		b.audio(480)
		b.audio(480)
		b.g.Expect(b.sent).To(gomega.Equal([]string{"input_audio_buffer_full"}))
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(room.InputRate-2*(room.InputRate/makesRoom)+960), "the oldest audio makes room")
		b.do(b.l.Clear())
		b.audio(480)
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(480))
	})

	live(t, "a commit of too little audio is refused, and of enough audio makes an item", byClient, func(b *half) {
		b.audio(480)
		b.do(b.l.Commit(&b.state))
		b.g.Expect(b.sent).To(gomega.Equal([]string{"input_audio_buffer_commit_empty"}))
		b.sent = nil
		b.audio(4800)
		b.do(b.l.Commit(&b.state))
		b.g.Expect(b.sent).To(gomega.Equal([]string{"input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"}))
		b.g.Expect(b.committed).To(gomega.Equal([]turn.ID{1}))
	})
}

func TestWaitsForTheUserEnd(t *testing.T) {
	idle := func(_ *Parts, s *wire.Session) { ms := 5000; s.Audio.Input.TurnDetection.IdleTimeoutMS = &ms }
	live(t, "a session in which nobody speaks answers after idle_timeout_ms", idle, func(b *half) {
		began := time.Now()
		b.g.Expect(b.next()).To(gomega.BeAssignableToTypeOf(IdleDue{}))
		b.g.Expect(time.Since(began)).To(gomega.Equal(5 * time.Second))
		b.g.Expect(b.sent[0]).To(gomega.Equal("input_audio_buffer.timeout_triggered"))
		b.g.Expect(b.committed).To(gomega.HaveLen(1))
	})

	live(t, "an expired idle timer that was replaced before does nothing", idle, func(b *half) {
		wait(5 * time.Second)
		b.l.ArmIdle(&b.state)
		b.next()
		b.g.Expect(b.sent).To(gomega.BeEmpty())
	})

	for name, end := range map[string]func(b *half){
		"that is discarded": func(b *half) { b.do(b.l.Clear()) },
		"that has its text": func(b *half) { b.step(coord.OfTurn{Event: turn.Silence{Turn: 1}}) },
	} {
		live(t, "idle_timeout_ms counts from the end of a turn "+name, idle, func(b *half) {
			wait(4 * time.Second)
			b.step(coord.OfTurn{Event: turn.Onset{}})
			b.audio(4800)
			began := time.Now()
			end(b)
			for {
				if _, is := b.next().(IdleDue); is {
					break
				}
			}
			b.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 5*time.Second, time.Second))
		})
	}

	live(t, "a turn whose client sends nothing any more ends", nil, func(b *half) {
		b.step(coord.OfTurn{Event: turn.Onset{}})
		b.audio(480)
		began := time.Now()
		for len(b.committed) == 0 {
			b.next()
		}
		b.g.Expect(time.Since(began)).To(gomega.Equal(5 * time.Second))
	})
}

// TestTurnsLeaveNothing: whatever ends a turn or a candidate, and whatever came of its words before, nothing is kept of it.
func TestTurnsLeaveNothing(t *testing.T) {
	live(t, "in any order", func(p *Parts, _ *wire.Session) { p.Gate = &pipeline.VoiceGate{} }, func(b *half) {
		r := rand.New(rand.NewPCG(1, 1))
		for range 100 {
			b.state.Playout = []playout.State{playout.Silent{}, playout.Playing{Resp: 1}}[r.IntN(2)]
			b.step(coord.OfTurn{Event: turn.Onset{}})
			of := turn.Open(b.state.Turn)
			if r.IntN(2) == 0 {
				b.do(b.l.Handle(Report{Final{Turn: of}}, &b.state, Facts{}))
			}
			ends := []turn.Event{turn.Misfire{Turn: of}, turn.Clear{}, turn.NoSpeech{Turn: of}}
			for r.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] }); len(ends) > 0; ends = ends[1:] {
				b.step(coord.OfTurn{Event: ends[0]})
			}
			b.g.Expect(turn.Open(b.state.Turn)).To(gomega.BeZero())
			b.g.Expect(b.l.gate.turns).To(gomega.BeEmpty())
			b.g.Expect(b.l.speech.turns).To(gomega.BeEmpty())
		}
	})
}

// stuck is a recogniser that takes no audio.
type stuck struct{ pipeline.Transcriber }

// Open implements pipeline.Transcriber.
func (stuck) Open(ctx context.Context, _ pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestARecogniserThatCannotKeepUp(t *testing.T) {
	slow := func(p *Parts, _ *wire.Session) { p.Transcriber, p.Buffer = stuck{p.Transcriber}, MaxBuffer }
	live(t, "the machines learn of it once, after the audio in hand", slow, func(b *half) {
		b.openTurn()
		b.audio(62 * room.InputRate)
		b.g.Expect(b.later).To(gomega.Equal([]coord.Event{coord.OfTranscription{Event: transcription.Failed{Turn: 1}}}))
	})
}

// wait lets d pass in the bubble.
func wait(d time.Duration) { <-time.After(d) }

func TestAppendedAudioReplacesTheTrack(t *testing.T) {
	byClient := func(_ *Parts, s *wire.Session) { s.Audio.Input.TurnDetection = nil }
	live(t, "while events bring the audio, and for half a second after them", byClient, func(b *half) {
		b.audio(480)
		for range 10 {
			b.do(b.l.Append(make([]byte, 2*960), &b.state))
			b.audio(480)
			b.do(b.l.Missing(480, &b.state))
			<-time.After(40 * time.Millisecond)
		}
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(480 + 10*960))
		<-time.After(appendsFor)
		b.audio(480)
		b.g.Expect(b.l.input.buffer.Len()).To(gomega.Equal(480 + 10*960 + 480))
	})
}

// TestASentenceOutlivesACutOfTheNetwork: what is missing while the connection is interrupted ends no turn in mid-sentence.
func TestASentenceOutlivesACutOfTheNetwork(t *testing.T) {
	said := scripted.Tones("a sentence that the network interrupts")
	half1, half2 := said[:len(said)/2], said[len(said)/2:]
	speak := func(b *half, pcm []int16) {
		for len(pcm) > 0 {
			n := min(480, len(pcm))
			b.do(b.l.Audio(pcm[:n], &b.state))
			pcm = pcm[n:]
			wait(20 * time.Millisecond)
		}
	}
	gap := func(b *half, missing time.Duration) {
		for range missing / (20 * time.Millisecond) {
			b.do(b.l.Missing(480, &b.state))
			wait(20 * time.Millisecond)
		}
	}
	large := func(p *Parts, _ *wire.Session) { p.Buffer = MaxBuffer }
	live(t, "the sentence goes on when the connection is back", large, func(b *half) {
		speak(b, half1)
		gap(b, time.Second)
		b.step(coord.OfConn{Event: conn.Lost{}})
		gap(b, 2*time.Second)
		wait(2 * AudioTimeout)
		for len(b.events) > 0 {
			b.next()
		}
		b.g.Expect(b.committed).To(gomega.BeEmpty())
		b.step(coord.OfConn{Event: conn.Restored{}})
		speak(b, half2)
		b.g.Expect(b.committed).To(gomega.BeEmpty())
		speak(b, make([]int16, room.InputRate))
		b.g.Expect(b.committed).To(gomega.Equal([]turn.ID{1}))
	})
	live(t, "a client that is back and sends nothing ends the turn", large, func(b *half) {
		speak(b, half1)
		b.step(coord.OfConn{Event: conn.Lost{}})
		wait(2 * AudioTimeout)
		b.step(coord.OfConn{Event: conn.Restored{}})
		for len(b.committed) == 0 {
			b.next()
		}
	})
	live(t, "a sentence that has ended before is answered", large, func(b *half) {
		speak(b, said)
		speak(b, make([]int16, 400*room.InputRate/1000))
		b.step(coord.OfConn{Event: conn.Lost{}})
		gap(b, 2*time.Second)
		b.g.Expect(b.committed).To(gomega.Equal([]turn.ID{1}))
	})
}
