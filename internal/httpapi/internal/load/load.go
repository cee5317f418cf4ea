// Package load measures how busy a server is (late audio, processor time), and decides whether a server that is so busy takes a further call.
package load

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

const (
	// measureEvery is the shortest time over which the load is measured.
	measureEvery = 2 * time.Second
	// fewFrames say nothing about lateness.
	fewFrames = 500
)

// Meter measures the load between two looks. It is safe for concurrent use.
type Meter struct {
	mu        sync.Mutex
	at        time.Time
	due, late uint64
	cpu       time.Duration

	latePercent, cpuPercent float64 // of the last measurement
}

// Look measures if the last measurement is old enough, and returns what is known: the share of late frames and of processor time, in
// percent. due is how many frames were due so far, late is how many of these were late or never sent, and cpu is the processor time so far.
func (m *Meter) Look(now time.Time, due, late uint64, cpu time.Duration) (latePercent, cpuPercent float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	took := now.Sub(m.at)
	if took < measureEvery {
		return m.latePercent, m.cpuPercent
	}
	if !m.at.IsZero() {
		m.latePercent, m.cpuPercent = 0, 100*float64(cpu-m.cpu)/float64(took)/float64(runtime.GOMAXPROCS(0))
		if frames := due - m.due; frames >= fewFrames {
			m.latePercent = 100 * float64(late-m.late) / float64(frames)
		}
	}
	m.at, m.due, m.late, m.cpu = now, due, late, cpu
	return m.latePercent, m.cpuPercent
}

// FewCalls are admitted in any case: they are not what makes the server busy.
const FewCalls = 10

// TooMuch returns why a server with that many calls takes no further one: the share of late audio or of processor time, in percent, is above its limit. It returns "" if it takes one. A
// limit of 0 is none.
func TooMuch(calls int, late, maxLate, cpu, maxCPU float64) (why string) {
	switch {
	case calls < FewCalls:
	case maxLate > 0 && late > maxLate:
		why = fmt.Sprintf("%.0f %% of the audio is late", late)
	case maxCPU > 0 && cpu > maxCPU:
		why = fmt.Sprintf("%.0f %% of the processor time is used", cpu)
	}
	return why
}
