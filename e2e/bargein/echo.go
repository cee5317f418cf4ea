package main

// The row "echo": how often the agent interrupts itself when the microphone picks up its sound.

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// lateness has the delays of the echo, in ms. Each is measured in one call.
var lateness = []int{40, 60, 80, 100, 120}

// echoGain is -20 dB.
const echoGain = 0.1

// echoes are the results of one client.
type echoes struct {
	name      string
	deaf      bool
	played    time.Duration
	ducks     int
	confirmed int
}

// echo measures how often a client interrupts the agent because of its echo.
func echo(h *house, o options, r *results) error {
	all := []*echoes{{name: "with the playback as reference"}, {name: "without it", deaf: true}}
	server, err := h.speech()
	if err != nil {
		return err
	}
	failed := make([]error, len(all))
	var side sync.WaitGroup
	for i, e := range all {
		side.Go(func() {
			failed[i] = h.inBrowser(func(b *rig.Browser) error {
				for _, late := range lateness {
					if err := h.echoCall(b, server, e, late, o.echo/time.Duration(len(lateness))); err != nil {
						return fmt.Errorf("%s, %d ms late: %w", e.name, late, err)
					}
				}
				return nil
			})
		})
	}
	side.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	t := table{
		title: "The agent's echo in the microphone: -20 dB, 40 to 120 ms late, added after the browser's echo canceller",
		head:  []string{"Antiphon's detector", "playback", "ducks", "false barge-ins by the echo"},
		notes: []string{"In this test the echo keeps its level while the client ducks the agent, because the test takes the echo before the audio element. In a room the echo would become quieter too."},
	}
	for _, e := range all {
		t.rows = append(t.rows, []string{e.name, e.played.Round(time.Second).String(), fmt.Sprint(e.ducks), fmt.Sprint(e.confirmed)})
	}
	r.add(t)
	mine := all[0]
	r.judge(target{
		what: fmt.Sprintf("false barge-ins in %v of playback with an echo", mine.played.Round(time.Second)), want: "0",
		got: fmt.Sprintf("%d, and %d ducks", mine.confirmed, mine.ducks), met: mine.confirmed == 0,
	})
	return nil
}

// echoCall makes one call in which the agent speaks for this long, with its echo in the microphone.
func (h *house) echoCall(b *rig.Browser, server string, e *echoes, late int, playing time.Duration) (err error) {
	options, err := json.Marshal(map[string]any{"deaf": e.deaf, "echo": map[string]any{"lateMS": late, "gain": echoGain}})
	if err != nil {
		return err
	}
	c, err := h.callWith(b, ours, server, rig.Link{RTT: 20 * time.Millisecond}, string(options))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for left := playing; left > 0; {
		if err := errors.Join(c.skip(), c.write(story), c.await("output_audio_buffer.started", patience)); err != nil {
			return err
		}
		began := time.Now()
		err := c.await("output_audio_buffer.stopped", left)
		if err != nil && !errors.Is(err, errQuiet) {
			return err
		}
		left -= time.Since(began)
		e.played += time.Since(began)
	}
	if err := c.skip(); err != nil {
		return err
	}
	e.confirmed += c.cancelled()
	seen, err := c.report()
	if err != nil {
		return err
	}
	for _, i := range seen.Interrupting {
		if i.Is {
			e.ducks++
		}
	}
	return nil
}
