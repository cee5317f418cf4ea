package bargein

// The effect of noises on a response: plays noises during a story, and finds in the recording which audio was repeated and lost.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// noise is a sound that must not interrupt the agent.
type noise struct {
	name  string
	sound rig.Sound
}

// disturbance is the effect of one noise on the response. All times are in ms.
type disturbance struct {
	noise    string
	left     bool    // the response was not audible at its usual level for a while
	back     float64 // the time from the end of the noise until the usual level is back; 0 when it was back before
	repeated float64 // how much was audible twice at the usual level
	lost     float64 // how much was never audible at the usual level
	words    int     // about how many words were lost
}

// disturbances are the effects of all noises on one client.
type disturbances struct {
	kind      string
	all       []disturbance
	cancelled int
}

// story is the request for more than a minute of speech, in which neighbouring words sound different.
const story = "tell me a story"

// apart is the time between two noises.
const apart = 3600 * time.Millisecond

// disturb plays noises to each client while the agent tells a story.
func (h *house) disturb(kinds []string, noises []noise) ([]*disturbances, error) {
	server := h.speech()
	reference, err := h.responseAudio(server, story)
	if err != nil {
		return nil, err
	}
	t := newTracker(reference, speechWindow)
	all := make([]*disturbances, len(kinds))
	failed := make([]error, len(kinds))
	var side sync.WaitGroup
	for i, kind := range kinds {
		all[i] = &disturbances{kind: kind}
		side.Go(func() {
			failed[i] = h.inBrowser(func(b *rig.Browser) error { return h.disturbOne(b, server, all[i], noises, t) })
		})
	}
	side.Wait()
	return all, errors.Join(failed...)
}

// disturbOne plays all noises to one client. When a response is cancelled, it goes on in another call.
func (h *house) disturbOne(b *rig.Browser, server string, d *disturbances, noises []noise, t *tracker) error {
	for begun := 0; begun < len(noises); {
		made, err := h.disturbCall(b, server, d, noises[begun:], t)
		if err != nil {
			return fmt.Errorf("%s: %w", d.kind, err)
		}
		begun += max(1, made)
	}
	return nil
}

// made is a noise that was played, with its beginning and its end on the page's clock.
type made struct {
	name       string
	begun, end float64
}

func (h *house) disturbCall(b *rig.Browser, server string, d *disturbances, noises []noise, t *tracker) (n int, err error) {
	c, err := h.call(b, d.kind, server, middle)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := errors.Join(c.write(story), c.await("output_audio_buffer.started", patience), pause(h.ctx, 4*time.Second)); err != nil {
		return 0, err
	}
	var all []made
	for i, noise := range noises {
		said, err := c.tab.Say(rig.Join(noise.sound, rig.Silence(200*time.Millisecond)).WAV())
		if err != nil {
			return 0, err
		}
		all = append(all, made{noise.name, said + onset(noise.sound), said + float64(noise.sound.Duration().Milliseconds())})
		// The distance varies, so that noises fall on words and on pauses.
		if err := pause(h.ctx, apart+time.Duration(i%5)*77*time.Millisecond); err != nil {
			return 0, err
		}
		if over, err := c.over(); err != nil || over {
			break
		}
	}
	rec, err := c.tab.Output()
	if err != nil {
		return 0, err
	}
	p, err := t.follow(rec)
	if err != nil {
		return 0, err
	}
	d.cancelled += c.cancelled()
	for i, m := range all {
		until := rec.At(len(rec.PCM) - 1)
		if i+1 < len(all) {
			until = all[i+1].begun
		}
		d.all = append(d.all, p.disturbed(m, until))
	}
	return len(all), nil
}

// over reports whether the playback of the response has ended.
func (c *caller) over() (bool, error) {
	if err := c.skip(); err != nil {
		return false, err
	}
	return len(c.since("output_audio_buffer.stopped", 0))+len(c.since("output_audio_buffer.cleared", 0)) > 0, nil
}

// cancelled returns how many responses were cancelled.
func (c *caller) cancelled() (n int) {
	for _, p := range c.since("response.done", 0) {
		var e struct{ Response struct{ Status string } }
		if json.Unmarshal(p.Event, &e) == nil && e.Response.Status == "cancelled" {
			n++
		}
	}
	return n
}

// unlike is how many steps in a row have to be unrecognised before the response counts as not audible.
const unlike = 6

// disturbed returns the effect of a noise on the response up to a moment.
func (p *path) disturbed(m made, until float64) disturbance {
	d := disturbance{noise: m.name}
	from, to := p.index(m.begun), p.index(until-150)
	left, back := to, from
	for i, gone := from, 0; i < to; i++ {
		switch p.steps[i].state {
		case unknown, vague, offLevel:
			if gone++; gone >= unlike {
				d.left, left, back = true, min(left, i), i+1
			}
		case sounding:
			gone = 0
		case pausing:
		}
	}
	if d.left {
		d.back = math.Max(0, p.moment(back)-m.end)
	}
	reached := p.reached(left)
	if !d.left {
		reached = p.reached(from)
	}
	heard := map[int]bool{} // the cells that were audible at the usual level since the noise
	for i := from; i < to; i++ {
		if s := p.steps[i]; s.state == sounding {
			cell := s.place / hop
			if p.t.loud(cell) && s.place < reached-hop && i >= left {
				d.repeated += 10
			}
			heard[cell] = true
			// Positions have an error of a few milliseconds, so the neighbouring cells count as heard.
			heard[cell-1], heard[cell+1] = true, true
		}
	}
	d.lost, d.words = p.lost(heard, p.reached(from)/hop+1, p.reached(to)/hop)
	return d
}

// reached returns the furthest position that was audible at the usual level before a step.
func (p *path) reached(before int) (place int) {
	for i := range before {
		if s := p.steps[i]; s.state == sounding {
			place = max(place, s.place)
		}
	}
	return place
}

// A lost stretch shorter than edge is the edge of a word or an error of the measurement. A word takes about the time of word. In ms.
const (
	edge = 50
	word = 350
)

// lost returns how much sound between two cells of the reference was not audible, in ms, and about how many words that is.
func (p *path) lost(heard map[int]bool, from, to int) (lost float64, words int) {
	run, quiet := 0.0, 0
	end := func() {
		if run >= edge {
			lost += run
			words += max(1, int(math.Round(run/word)))
		}
		run = 0
	}
	for cell := from; cell <= to; cell++ {
		switch {
		case heard[cell]:
			end()
		case p.t.loud(cell):
			run, quiet = run+10, 0
		default:
			if quiet++; quiet > 20 {
				end()
			}
		}
	}
	end()
	return lost, words
}
