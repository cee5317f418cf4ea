package session

// The virtual clock of a simulated call.

import (
	"container/heap"
	"math/rand/v2"
)

// ms is virtual time: milliseconds since the call began.
type ms int

// clock runs functions at their times. Functions with the same time run in the order in which they were added.
type clock struct {
	now  ms
	made int
	due  agenda
}

type entry struct {
	at  ms
	nth int
	do  func()
}

type agenda []entry

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].nth < a[j].nth
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }

func (a *agenda) Pop() any {
	last := len(*a) - 1
	out := (*a)[last]
	(*a)[last] = entry{}
	*a = (*a)[:last]
	return out
}

func (c *clock) after(d ms, do func()) {
	c.made++
	heap.Push(&c.due, entry{c.now + d, c.made, do})
}

// next runs what is due first, and says whether there was anything.
func (c *clock) next() bool {
	if len(c.due) == 0 {
		return false
	}
	e := heap.Pop(&c.due).(entry)
	c.now = e.at
	e.do()
	return true
}

// source is one goroutine, or one ordered channel: what it says arrives late, but in order. Sources overtake each other.
type source struct {
	clock *clock
	dice  *rand.Rand
	last  ms
}

func (s *source) between(low, high ms) ms { return low + ms(s.dice.IntN(int(high-low)+1)) }

// percent is true in n of 100 cases.
func (s *source) percent(n int) bool { return s.dice.IntN(100) < n }

func (s *source) say(low, high ms, do func()) {
	s.last = max(s.last, s.clock.now+s.between(low, high))
	s.clock.after(s.last-s.clock.now, do)
}

// lane is one direction of the network. Events go over a reliable channel, as a data channel or a WebSocket is: late, but
// in order, and after an outage. Packets are lost, overtake each other, and come to nothing while it lasts.
type lane struct {
	source
	near, far ms  // the delay
	loss      int // of packets, in percent
	reliable  bool
	down      bool
	held      []func()
}

func (l *lane) event(do func()) {
	l.say(l.near, l.far, func() {
		if l.down || len(l.held) > 0 {
			l.held = append(l.held, do)
			return
		}
		do()
	})
}

func (l *lane) packet(do func()) {
	switch {
	case l.reliable:
		l.event(do)
	case !l.down && !l.percent(l.loss):
		l.clock.after(l.between(l.near, l.far), func() {
			if !l.down {
				do()
			}
		})
	}
}

func (l *lane) cut() { l.down = true }

// heal lets through what was sent meanwhile, once it has been sent again.
func (l *lane) heal() {
	l.down = false
	l.clock.after(l.far, func() {
		if l.down {
			return
		}
		held := l.held
		l.held = nil
		for _, do := range held {
			do()
		}
	})
}
