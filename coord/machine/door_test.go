package machine_test

import "github.com/antiphon-rt/antiphon/coord/machine"

// The tests' machine is a door with a lock: closed, open, locked by a code.

type state interface {
	Name() string
	state()
}

type (
	closed struct{}
	opened struct{ Times int }
	locked struct{ Code int }
)

func (closed) state()       {}
func (opened) state()       {}
func (locked) state()       {}
func (closed) Name() string { return "Closed" }
func (opened) Name() string { return "Opened" }
func (locked) Name() string { return "Locked" }

type event interface {
	Name() string
	event()
}

type (
	push   struct{}
	pull   struct{}
	turned struct{ Code int }
)

func (push) event()         {}
func (pull) event()         {}
func (turned) event()       {}
func (push) Name() string   { return "Push" }
func (pull) Name() string   { return "Pull" }
func (turned) Name() string { return "Turned" }

type effect string

func (f effect) Name() string { return string(f) }

type (
	row   = machine.Row[state, event, effect]
	table = machine.Table[state, event, effect]
)

func on[From state, Ev event, To state](action string, f func(From, Ev) (To, []effect)) row {
	return machine.On[state, event](action, f)
}

func when[From state, Ev event, To state](
	action, guard string, holds func(From, Ev) bool, f func(From, Ev) (To, []effect),
) row {
	return machine.When[state, event](action, guard, holds, f)
}

func ignore(why string, from state, events ...event) []row {
	return machine.Ignore[state, event, effect](why, from, events...)
}

var (
	states = []state{closed{}, opened{}, locked{}}
	events = []event{push{}, pull{}, turned{}}
)

func rightKey(s locked, e turned) bool { return s.Code == e.Code }

// door is rebuilt for each test, which may spoil it.
func door() table {
	return machine.Join(
		[]row{
			on("Open", func(closed, pull) (opened, []effect) { return opened{1}, []effect{"creak", "light"} }),
			on("Lock", func(_ closed, e turned) (locked, []effect) { return locked(e), []effect{"click"} }),
		},
		ignore("it is closed already", closed{}, push{}),
		[]row{
			on("Shut", func(opened, push) (closed, []effect) { return closed{}, []effect{"bang"} }),
		},
		ignore("it is open already", opened{}, pull{}, turned{}),
		[]row{
			when("Unlock", "right key", rightKey, func(locked, turned) (closed, []effect) { return closed{}, []effect{"clack"} }),
			on("Rattle", func(s locked, _ turned) (locked, []effect) { return s, []effect{"rattle"} }),
		},
		ignore("it is locked", locked{}, push{}, pull{}),
	)
}
