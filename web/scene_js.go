package web

// The scenery in a browser: it moves levels and score without rendering the page, and handles the keyboard shortcuts.

import (
	"strconv"
	"syscall/js"
	"time"
)

// scene is the scenery in a browser: it moves the rings and the meter with the
// levels, draws the score, and handles the shortcuts. Everything runs on the
// browser's one thread.
type scene struct {
	driver Driver
	shown  Snapshot

	window, document, orb, meter js.Value
	painter                      *painter
	score                        score
	frame, key                   js.Func
	running, still               bool
	begun                        time.Time
	meterAt                      time.Duration
	mic, agent                   float64 // the smoothed levels
	micShown, agentShown         string  // the values that the page shows
}

const (
	// frameEvery is half of most screens' rate: the levels are measured 20 times
	// a second, and the browser has a call to attend to.
	frameEvery = 33 * time.Millisecond
	meterEvery = 100 * time.Millisecond
)

func newScene(d Driver) *scene {
	window := js.Global()
	document := window.Get("document")
	s := &scene{
		driver:   d,
		begun:    time.Now(),
		window:   window,
		document: document,
		orb:      document.Call("getElementById", "orb"),
		meter:    document.Call("getElementById", "mic-level"),
		still:    window.Call("matchMedia", "(prefers-reduced-motion: reduce)").Get("matches").Bool(),
	}
	s.painter = newPainter(document.Call("getElementById", "score"))
	s.frame = js.FuncOf(func(js.Value, []js.Value) any {
		s.step(time.Since(s.begun))
		return nil
	})
	s.key = js.FuncOf(func(_ js.Value, args []js.Value) any {
		s.onKey(args[0])
		return nil
	})
	document.Call("addEventListener", "keydown", s.key)
	return s
}

// Show wakes the animation when there is something to move.
func (s *scene) Show(shown Snapshot) {
	s.shown = shown
	if !s.running && shown.Phase.InCall() {
		s.running = true
		s.next()
	}
}

func (s *scene) next() {
	s.window.Call("setTimeout", s.frame, frameEvery.Milliseconds())
}

// step draws one frame and asks for the next one while there is anything to see.
func (s *scene) step(now time.Duration) {
	if !s.running {
		return
	}
	mic, agent := s.driver.Levels()
	if s.shown.Muted {
		mic = 0
	}
	s.mic, s.agent = follow(s.mic, mic), follow(s.agent, agent)
	s.score.enter(s.shown.Phase, now)
	s.score.hear(now, mic, agent)
	s.setLevels()
	if now-s.meterAt >= meterEvery {
		s.meterAt = now
		s.meter.Call("setAttribute", "aria-valuenow", strconv.Itoa(int(s.mic*100)))
	}
	if !s.still {
		s.painter.paint(&s.score, now)
	}
	if s.shown.Phase.InCall() || !s.score.quiet() || s.mic > 0.01 || s.agent > 0.01 {
		s.next()
		return
	}
	s.running = false
}

// setLevels writes the levels to the few elements that use them, so that a frame
// does not make the browser restyle the whole page.
func (s *scene) setLevels() {
	if mic := decimal(s.mic); mic != s.micShown {
		s.micShown = mic
		s.orb.Get("style").Call("setProperty", "--mic", mic)
		s.meter.Get("style").Call("setProperty", "--mic", mic)
	}
	if agent := decimal(s.agent); agent != s.agentShown {
		s.agentShown = agent
		s.orb.Get("style").Call("setProperty", "--agent-level", agent)
	}
}

// follow returns the next shown level. It rises to the measured level at once and
// falls towards it slowly.
func follow(shown, measured float64) float64 {
	if measured > shown {
		return shown + (measured-shown)*0.7
	}
	return shown + (measured-shown)*0.25
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// onKey handles Esc and M. M is a letter while the user writes.
func (s *scene) onKey(e js.Value) {
	if e.Get("repeat").Bool() || e.Get("isComposing").Bool() ||
		e.Get("ctrlKey").Bool() || e.Get("metaKey").Bool() || e.Get("altKey").Bool() {
		return
	}
	switch e.Get("key").String() {
	case "Escape":
		// A drawer that is open takes the key, and closes.
		if s.shown.canInterrupt() && s.document.Call("querySelector", ":popover-open").IsNull() {
			e.Call("preventDefault")
			s.driver.Interrupt()
		}
	case "m", "M":
		if !writing(e.Get("target")) && s.shown.canSpeak() && !s.shown.ByHand {
			e.Call("preventDefault")
			s.driver.Mute(!s.shown.Muted)
		}
	}
}

func writing(target js.Value) bool {
	switch target.Get("tagName").String() {
	case "INPUT", "TEXTAREA", "SELECT":
		return true
	}
	return target.Get("isContentEditable").Truthy()
}
