package bargein

// One interruption and its times: from the first sound of the user to the ducked and to the silent agent.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// phrases are the spoken interruptions. Each begins with another sound, and is long enough to give words in the scripted recogniser.
var phrases = []string{
	"Stop it right there.", "But wait a second.", "No, that is not what I meant.", "Hold on, I have a question.", "Excuse me, what was that?",
	"Please let me say something.", "Actually, never mind.", "Tell me about the second one.",
}

// interruption has the measurements of one interruption. All times are in ms.
type interruption struct {
	cut
	found    float64 // when the client reported its own speech onset to the server
	lead     float64 // how much earlier the prediction was than the server's event
	ahead    bool
	told     float64 // the position at which the server says that it cut the response
	heard    float64 // the last audible position of the response, also if it was audible again after a rejected candidate
	atLevel  float64 // the last position that was audible at full level
	measured bool    // told, heard and atLevel are set
}

// series has the interruptions of one client on one network link.
type series struct {
	kind   string
	link   rig.Link
	all    []interruption
	failed []error // rounds that could not be measured
}

// interruptions measures each kind of client on each network link. The kinds run at the same time, so that the load is the same for all.
func (h *house) interruptions(kinds []string, links []rig.Link, rounds func(rig.Link) int) ([]*series, error) {
	server := h.tones()
	reference, err := h.responseAudio(server, longRequest)
	if err != nil {
		return nil, err
	}
	spoken, err := speech(h.ctx, phrases)
	if err != nil {
		return nil, err
	}
	var all []*series
	var mu sync.Mutex
	var side sync.WaitGroup
	var failed error
	for _, kind := range kinds {
		side.Go(func() {
			err := h.inBrowser(func(b *rig.Browser) error {
				for _, link := range links {
					s := &series{kind: kind, link: link}
					mu.Lock()
					all = append(all, s)
					mu.Unlock()
					if err := h.interrupt(b, server, s, spoken, newTracker(reference, tonesWindow), rounds(link)); err != nil {
						return fmt.Errorf("%s behind %v: %w", kind, link, err)
					}
				}
				return nil
			})
			mu.Lock()
			failed = errors.Join(failed, err)
			mu.Unlock()
		})
	}
	side.Wait()
	return all, failed
}

// inBrowser runs do with a new browser.
func (h *house) inBrowser(do func(*rig.Browser) error) error {
	b, err := rig.Launch(h.ctx, rig.Options{RecordOutput: true})
	if err != nil {
		return err
	}
	defer b.Close()
	return do(b)
}

// speech returns the texts as speech of flite.
func speech(ctx context.Context, texts []string) ([]rig.Sound, error) {
	var all []rig.Sound
	for _, text := range texts {
		s, err := rig.Speak(ctx, text)
		if err != nil {
			return nil, err
		}
		all = append(all, rig.Join(s, rig.Silence(300*time.Millisecond)))
	}
	return all, nil
}

// longRequest is the text that requests a long response. No round waits for its end.
const longRequest = "say 60 words"

// interrupt makes one call with one interruption for each round. The first round is longer and does not count: echo cancellation adapts
// in it, and the detector's thresholds are raised.
func (h *house) interrupt(b *rig.Browser, server string, s *series, spoken []rig.Sound, t *tracker, rounds int) error {
	c, err := h.call(b, s.kind, server, s.link)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for n := range rounds + 1 {
		playing := 1300*time.Millisecond + time.Duration(n%7)*53*time.Millisecond
		if n == 0 {
			playing = 4 * time.Second
		}
		one, err := c.interrupted(h.ctx, spoken[n%len(spoken)], playing, t)
		switch {
		case h.ctx.Err() != nil:
			return h.ctx.Err()
		case n == 0 && err == nil: // not counted
		case err == nil:
			s.all = append(s.all, one)
		default:
			s.failed = append(s.failed, err)
			if err := c.close(); err != nil {
				return err
			}
			if c, err = h.call(b, s.kind, server, s.link); err != nil {
				return err
			}
		}
	}
	return nil
}

// interrupted runs one round and returns its measurements: a long response, an interruption, a short response.
func (c *caller) interrupted(ctx context.Context, words rig.Sound, playing time.Duration, t *tracker) (interruption, error) {
	if err := errors.Join(c.skip(), c.write(longRequest)); err != nil {
		return interruption{}, err
	}
	started, err := c.find("output_audio_buffer.started", patience)
	if err := errors.Join(err, pause(ctx, playing)); err != nil {
		return interruption{}, err
	}
	said, err := c.tab.Say(words.WAV())
	if err != nil {
		return interruption{}, err
	}
	onset := said + onset(words)
	if err := c.await("output_audio_buffer.cleared", 4*time.Second); err != nil {
		return interruption{}, fmt.Errorf("%w: nobody was interrupted", err)
	}
	if err := errors.Join(c.await("output_audio_buffer.started", patience), c.await("output_audio_buffer.stopped", patience)); err != nil {
		return interruption{}, err
	}
	if err := pause(ctx, 400*time.Millisecond); err != nil {
		return interruption{}, err
	}
	rec, err := c.tab.Output()
	if err != nil {
		return interruption{}, err
	}
	var one interruption
	var ok bool
	if one.cut, ok = measureCut(rec, onset); !ok {
		return one, errors.New("the output has no reply that falls silent")
	}
	if err := c.predicted(&one, onset); err != nil {
		return one, err
	}
	c.cutAt(&one, rec, onset, onset-started.At+1000, t)
	return one, nil
}

// predicted compares the moment of the prediction with that of the server's event.
func (c *caller) predicted(one *interruption, onset float64) error {
	if c.kind != ours {
		return nil
	}
	for _, p := range c.passed {
		if p.Dir == "client" && p.At >= onset && typeOf(p) == "antiphon.barge_in.candidate" {
			one.found = p.At - onset
			break
		}
	}
	events := c.since("input_audio_buffer.speech_started", onset)
	r, err := c.report()
	if err != nil || len(events) == 0 {
		return err
	}
	for _, i := range r.Interrupting {
		if i.Is && i.At >= onset && i.At < events[0].At {
			one.ahead, one.lead = true, events[0].At-i.At
			return nil
		}
	}
	return nil
}

// cutAt measures the last audible position of the response, and takes the server's position of the cut. goneOn is the most that the
// response can have played, in ms.
func (c *caller) cutAt(one *interruption, rec *rig.Recording, onset, goneOn float64, t *tracker) {
	events := c.since("conversation.item.truncated", onset)
	if len(events) == 0 {
		return
	}
	var e struct {
		AudioEndMS float64 `json:"audio_end_ms"`
	}
	if json.Unmarshal(events[0].Event, &e) != nil {
		return
	}
	atLevel, ok := t.at(rec, onset+one.ducked, 0, goneOn)
	if !ok {
		return
	}
	from, to, ok := newLevels(rec).last(onset, c.nextSound(events[0].At, rec))
	if !ok {
		return
	}
	rejected := len(c.since("antiphon.barge_in.rejected", onset)) > 0
	heard, ok := t.ended(rec, from, to, onset, atLevel, one.cut, rejected)
	one.told, one.heard, one.atLevel, one.measured = e.AudioEndMS, heard, atLevel, ok
}

// nextSound returns when the next response after a moment begins to play; the end of the recording when there is none.
func (c *caller) nextSound(at float64, rec *rig.Recording) float64 {
	if next := c.since("output_audio_buffer.started", at); len(next) > 0 {
		return next[0].At
	}
	return rec.At(len(rec.PCM) - 1)
}
