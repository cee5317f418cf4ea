package web

import "time"

// The score draws the last seconds of speech as square notes on the staff behind
// the button: the user's notes move away to the left, the agent's to the
// right, and a double bar stands where the agent was cut short.

const (
	noteEvery   = 170 * time.Millisecond // one note at most in this time: a note's width apart
	noteLife    = 9 * time.Second        // after this it has left the staff
	noteSpeed   = 58.0                   // pixels a second
	noteFloor   = 0.35                   // levels below it are silence
	notePitches = 7                      // lines and spaces of the staff
	maxNotes    = 256                    // both sides of noteLife, with room
)

type noteKind uint8

const (
	noteYou noteKind = iota
	noteAgent
	noteCut
)

type note struct {
	born  time.Duration
	kind  noteKind
	pitch int // 0 is the lowest space, notePitches-1 the highest
}

// score holds the notes that are on the staff. One goroutine at a time.
type score struct {
	notes     [maxNotes]note
	first, n  int
	lastYou   time.Duration
	lastAgent time.Duration
	phase     Phase
}

// enter takes the present phase of the call, and marks a cut.
func (s *score) enter(p Phase, now time.Duration) {
	if p == PhaseInterrupted && s.phase != PhaseInterrupted {
		s.add(note{born: now, kind: noteCut})
	}
	s.phase = p
}

// hear takes both levels, 0 to 1. The user's level makes notes only while the user
// speaks or has just interrupted, so that noise makes none.
func (s *score) hear(now time.Duration, mic, agent float64) {
	for s.n > 0 && now-s.notes[s.first].born > noteLife {
		s.first = (s.first + 1) % maxNotes
		s.n--
	}
	if s.micCounts() && mic > noteFloor && now-s.lastYou >= noteEvery {
		s.lastYou = now
		s.add(note{born: now, kind: noteYou, pitch: pitchOf(mic)})
	}
	if s.phase == PhaseSpeaking && agent > noteFloor && now-s.lastAgent >= noteEvery {
		s.lastAgent = now
		s.add(note{born: now, kind: noteAgent, pitch: pitchOf(agent)})
	}
}

func (s *score) micCounts() bool { return s.phase == PhaseHearing || s.phase == PhaseInterrupted }

// quiet reports whether the staff is empty.
func (s *score) quiet() bool { return s.n == 0 }

// add appends a note; when there is no room the oldest one goes.
func (s *score) add(n note) {
	if s.n == maxNotes {
		s.first = (s.first + 1) % maxNotes
		s.n--
	}
	s.notes[(s.first+s.n)%maxNotes] = n
	s.n++
}

// each calls f for every note, oldest first, with the distance in pixels that
// it has moved.
func (s *score) each(now time.Duration, f func(n note, moved float64)) {
	for i := range s.n {
		n := s.notes[(s.first+i)%maxNotes]
		f(n, noteSpeed*(now-n.born).Seconds())
	}
}

func pitchOf(level float64) int {
	p := int((level - noteFloor) / (1 - noteFloor) * notePitches)
	return min(max(p, 0), notePitches-1)
}
