package main

// What a noise over a reply costs: plays noises during a story and finds in the recording what was repeated and what was lost.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// noise is something that is no interruption.
type noise struct {
	name  string
	sound rig.Sound
}

// disturbance is what became of the reply when there was a noise. All times are in ms.
type disturbance struct {
	noise    string
	left     bool    // the level or the reply itself was not what it would have been
	back     float64 // from the end of the noise to the level; 0 when it was back before
	repeated float64 // of what had been heard at its level, that was heard again
	lost     float64 // of what was never heard at its level
	words    int     // that were lost with it
}

// disturbances are those of one client.
type disturbances struct {
	kind      string
	all       []disturbance
	cancelled int
}

// story is asked for with this text: more than a minute of speech in which no word sounds like the one before.
const story = "tell me a story"

// apart is the time from one noise to the next.
const apart = 3600 * time.Millisecond

// disturb makes noises while each client in turn hears a story.
func (h *house) disturb(kinds []string, noises []noise) ([]*disturbances, error) {
	server, err := h.speech()
	if err != nil {
		return nil, err
	}
	reference, err := h.reply(server, story)
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

// disturbOne goes on with another call when a reply was cancelled, until all noises were made.
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

// made is a noise that was made, with the moments of its beginning and its end on the page's clock.
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
		// Another distance each time, so that the noises fall on words and on pauses.
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

// over says whether the reply has ended.
func (c *caller) over() (bool, error) {
	if err := c.skip(); err != nil {
		return false, err
	}
	return len(c.since("output_audio_buffer.stopped", 0))+len(c.since("output_audio_buffer.cleared", 0)) > 0, nil
}

// cancelled counts the replies that were.
func (c *caller) cancelled() (n int) {
	for _, p := range c.since("response.done", 0) {
		var e struct{ Response struct{ Status string } }
		if json.Unmarshal(p.Event, &e) == nil && e.Response.Status == "cancelled" {
			n++
		}
	}
	return n
}

// unlike is how many steps a reply may be unrecognised without having been away.
const unlike = 6

// disturbed says what a noise did to the reply up to a moment.
func (p *path) disturbed(m made, until float64) disturbance {
	d := disturbance{noise: m.name}
	from, to := p.index(m.begun), p.index(until-150)
	left, back := to, from
	for i, gone := from, 0; i < to; i++ {
		switch p.steps[i].state {
		case unknown, vague, lowered:
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
	heard := map[int]bool{} // cells heard at their level since the noise
	for i := from; i < to; i++ {
		if s := p.steps[i]; s.state == sounding {
			cell := s.place / hop
			if p.t.loud(cell) && s.place < reached-hop && i >= left {
				d.repeated += 10
			}
			heard[cell] = true
			// A place is found to a few milliseconds: a cell may be passed over.
			heard[cell-1], heard[cell+1] = true, true
		}
	}
	d.lost, d.words = p.lost(heard, p.reached(from)/hop+1, p.reached(to)/hop)
	return d
}

// reached is the furthest place that was heard at its level before a step.
func (p *path) reached(before int) (place int) {
	for i := range before {
		if s := p.steps[i]; s.state == sounding {
			place = max(place, s.place)
		}
	}
	return place
}

// Of what was not heard, less than this is a word's edge or an error of the measurement, and a word takes about so long; in ms.
const (
	edge = 50
	word = 350
)

// lost adds up what was not heard between two cells of the reference.
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
