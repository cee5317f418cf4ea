package env

// Named timers of one owner.

import "time"

// Timers are named timers of one owner: starting a timer stops the one that has the same name. They belong to one goroutine; the calls that they make run on others.
type Timers struct {
	env     Env
	running map[string]Timer
}

// NewTimers returns an empty set of timers on e's clock.
func NewTimers(e Env) *Timers { return &Timers{env: e, running: map[string]Timer{}} }

// Start calls f once d has passed, in place of the call that a timer of the same name still has to make.
func (t *Timers) Start(name string, d time.Duration, f func()) {
	t.Stop(name)
	t.running[name] = t.env.AfterFunc(d, f)
}

// Stop stops the timer name, if there is one.
func (t *Timers) Stop(name string) {
	if timer := t.running[name]; timer != nil {
		timer.Stop()
		delete(t.running, name)
	}
}

// StopAll stops every timer.
func (t *Timers) StopAll() {
	for name := range t.running {
		t.Stop(name)
	}
}
