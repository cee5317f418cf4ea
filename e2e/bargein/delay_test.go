package bargein

// Measures the delay between a change of volume in the page and its place in the recording, so that the rows can subtract it.

import (
	"errors"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// recordingDelay returns the time from a change of an element's volume to its effect in the recording, in ms.
func (h *house) recordingDelay() (delay float64, err error) {
	err = h.inBrowser(func(b *rig.Browser) error {
		tab, err := b.Open(h.site + "/")
		if err != nil {
			return err
		}
		defer tab.Close()
		if err := tab.Listen(); err != nil {
			return err
		}
		var all []float64
		for range 7 {
			at, err := rig.Await[float64](tab, `lower()`)
			if err != nil {
				return err
			}
			rec, err := tab.Output()
			if err != nil {
				return err
			}
			l := newLevels(rec)
			full := l.db(rec.Sample(at-200), rec.Sample(at))
			if fell, ok := l.below(at-50, full-19, 50); ok && full > -40 {
				all = append(all, fell-at)
			}
		}
		if len(all) == 0 {
			return errors.New("the recording of the tab does not show an element's volume")
		}
		delay = quantile(all, 0.5)
		return nil
	})
	return delay, err
}
