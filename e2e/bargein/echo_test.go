package bargein

// The benchmark of the echo: how often the agent interrupts itself when the microphone picks up its sound.

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
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

// BenchmarkEcho measures how often a client interrupts the agent because of its echo, with the playback as the detector's reference and without it. The
// echo keeps its level while the client ducks the agent, because it is taken before the audio element. In a room it would become quieter too.
func BenchmarkEcho(b *testing.B) {
	h := open(b)
	all := []*echoes{{name: "with the playback as reference"}, {name: "without it", deaf: true}}
	server := h.speech()
	var side errgroup.Group
	for _, e := range all {
		side.Go(func() error {
			return h.inBrowser(func(b *rig.Browser) error {
				for _, late := range lateness {
					if err := h.echoCall(b, server, e, late, *echoed/time.Duration(len(lateness))); err != nil {
						return fmt.Errorf("%s, %d ms late: %w", e.name, late, err)
					}
				}
				return nil
			})
		})
	}
	if err := side.Wait(); err != nil {
		b.Fatal(err)
	}
	for _, e := range all {
		b.Run(e.name, func(b *testing.B) {
			b.ReportMetric(e.played.Seconds(), "played-s")
			figures.Count(b, "ducks", e.ducks)
			figures.Count(b, "false-barge-ins", e.confirmed)
		})
	}
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
