package listening

// Onset and endpointing: frames of speech and silence become events of the turn machine.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	onsetFrames     = 3                      // frames of speech in a row that are an onset: 30 ms
	carryOverFrames = 25                     // more frames when the turn before ended during speech: its last sound begins no turn
	pauseMS         = 200                    // silence after which an end of utterance counts (semantic_vad)
	raisedBy        = 0.2                    // added to the threshold while the client's echo cancellation adapts
	adaptFirst      = 3 * time.Second        // how long that lasts in the first playback
	adaptAfter      = 250 * time.Millisecond // how long that lasts after each playback
)

// endpointing is the state of the frames so far that decides the next event.
type endpointing struct {
	run         int  // frames of speech in a row; below 0 while the speech may be the last sound of the turn before
	carriedOver bool // the speech goes on from the turn before
	silentMS    int  // ms of silence since the last speech
	paused      bool // Silence was returned, and speech has not resumed since
	changed     bool // the settings have changed in this pause: Silence must be returned again
}

// add counts a frame.
func (e *endpointing) add(speech bool) {
	if speech {
		e.run++
		e.silentMS, e.changed = 0, false
		return
	}
	e.run, e.carriedOver = 0, false
	e.silentMS += frameMS
}

// onset reports whether the last frame is a speech onset.
func (e *endpointing) onset() bool {
	if e.run != onsetFrames {
		return false
	}
	e.paused = false
	return true
}

// endTurn notes that a turn has ended, perhaps in the middle of a sentence. Speech that goes on begins the next turn, and only after
// carryOverFrames.
func (e *endpointing) endTurn() {
	if e.run > 0 {
		e.run, e.carriedOver = -carryOverFrames, true
	}
}

// lookBack returns how many frames ago the speech began whose onset is the present frame.
func (e *endpointing) lookBack() int {
	if e.carriedOver {
		return onsetFrames + carryOverFrames
	}
	return onsetFrames
}

// during returns the event of the last frame while turn t is open, nil if there is none. after is the silence that ends speech, and
// fallback how long the turn machine waits for an end of utterance then; both in ms.
func (e *endpointing) during(t turn.ID, speech bool, after, fallback int) turn.Event {
	if speech {
		if e.paused {
			e.paused = false
			return turn.VoiceResumed{Turn: t}
		}
		return nil
	}
	if e.silentMS < after || e.paused && !e.changed {
		return nil
	}
	if e.paused { // a part of the fallback is over
		fallback = max(0, fallback-(e.silentMS-after))
	}
	e.paused, e.changed = true, false
	return turn.Silence{Turn: t, FallbackMS: uint32(fallback)}
}

// confirming returns the event of the last frame while the gate judges the end of turn t; nil if there is none. All speech retracts that end.
func (e *endpointing) confirming(t turn.ID, speech bool) turn.Event {
	if !speech {
		return nil
	}
	e.paused = false
	return turn.VoiceResumed{Turn: t}
}

// silenceThatEnds returns the silence that ends speech, and how long the turn machine waits for an end of utterance after that
// silence; both in ms. Without a live transcription there is no end of utterance: semantic_vad ends speech like server_vad then.
func silenceThatEnds(td *wire.TurnDetection, noLive bool) (after, fallback int) {
	switch {
	case td.Type != wire.SemanticVAD:
		return td.SilenceDurationMS, 0
	case noLive:
		return wire.DefaultSession().Audio.Input.TurnDetection.SilenceDurationMS, 0
	}
	return pauseMS, eagernessMS(td.Eagerness)
}

// eagernessMS returns how long semantic_vad waits for an end of utterance: 8, 4 and 2 s, as in the protocol.
func eagernessMS(eagerness string) int {
	switch eagerness {
	case "low":
		return 8000
	case "high":
		return 2000
	}
	return 4000
}

// playback says when the agent's audio was played at the client, because the client's echo cancellation adapts to it.
type playback struct {
	first time.Time // when the first one began; zero before that
	ended time.Time // when the last one ended; zero before that
}

// threshold returns the detector's threshold: the one of the settings, raised while the client's echo cancellation adapts.
func (p *playback) threshold(td *wire.TurnDetection, audible bool, now time.Time) float32 {
	t := float32(td.Threshold)
	if td.Type == wire.SemanticVAD {
		t = voice.DefaultThreshold
	}
	if p.first.IsZero() && audible {
		p.first = now
	}
	if audible && now.Sub(p.first) < adaptFirst || !p.ended.IsZero() && now.Sub(p.ended) < adaptAfter {
		t = max(t, min(0.9, t+raisedBy))
	}
	return max(0.01, min(0.99, t))
}
