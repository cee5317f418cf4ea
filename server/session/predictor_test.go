package session

import (
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// predictor is a caller over WebRTC that predicts: the client's machine with an ear, behind lanes that take their time. It
// remembers what the ear got, and at which level.
type predictor struct {
	*caller
	up, down, media *lane

	mu               sync.Mutex
	state            bargein.State
	level            level
	muted            bool // until a silence plays
	now              uint32
	newest           bargein.ID
	awaits           bargein.ID // a mark has to be passed for it
	mark             uint32
	replies          []string // their names: the first is 1
	began            id.Response
	ended            id.Response
	hushed           bool // the last packet was silent
	heard            []listened
	marks            map[bargein.ID]uint32 // at which it was told of each candidate
	acked            map[bargein.ID]uint32 // the first silent packets
	ready            map[bargein.ID]uint32
	mutes            int  // packets that were not heard
	noReady, noHeard bool // it does not report that
}

// level is how loud the agent is.
type level uint8

const (
	full level = iota
	ducked
	silenced
)

// listened is a packet that was played.
type listened struct {
	packet
	level level
}

// lane carries what is put in, in order, and takes its time for each.
type lane struct {
	takes time.Duration
	c     chan carried
	over  sync.WaitGroup
}

type carried struct {
	due time.Time
	do  func()
}

func newLane(takes time.Duration) *lane {
	l := &lane{takes: takes, c: make(chan carried, 100_000)}
	l.over.Go(func() {
		for x := range l.c {
			<-time.After(time.Until(x.due))
			x.do()
		}
	})
	return l
}

func (l *lane) put(do func()) { l.c <- carried{time.Now().Add(l.takes), do} }

func (l *lane) end() {
	close(l.c)
	l.over.Wait()
}

// trip is how long things take between the two ends.
type trip struct{ up, down, media time.Duration }

// near is a client in the same town, whose jitter buffer holds two packets.
func near() trip {
	return trip{up: 20 * time.Millisecond, down: 20 * time.Millisecond, media: 65 * time.Millisecond}
}

// byPredictor places a call of a client that predicts interruptions.
func byPredictor(t *testing.T, p *pipeline.Pipeline, far trip) *predictor {
	t.Helper()
	c := newCaller(t, p)
	return predicting(c, far)
}

func predicting(c *caller, far trip) *predictor {
	c.t.Helper()
	p := &predictor{
		caller: c, up: newLane(far.up), down: newLane(far.down), media: newLane(far.media), state: bargein.Silent{},
		marks: map[bargein.ID]uint32{}, acked: map[bargein.ID]uint32{}, ready: map[bargein.ID]uint32{},
	}
	c.t.Cleanup(func() { p.up.end(); p.down.end(); p.media.end() })
	c.tap = func(e wire.ServerEvent) { p.down.put(func() { p.event(e) }) }
	c.pacer = newPacer(c.s, func(k packet) { p.media.put(func() { p.plays(k) }) })
	c.start()
	c.send(`{"type":"antiphon.hello","event_id":"hello","barge_in":true}`)
	c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Acknowledges).To(gomega.Equal("hello"))
	return p
}

// tell has the machine take an event and does what it says. The lock is held.
func (p *predictor) tell(e bargein.Event) {
	next, effects, _ := bargein.Table.Next(p.state, e)
	p.state = next
	for _, f := range effects {
		p.perform(f)
	}
}

func (p *predictor) perform(f bargein.Effect) {
	switch f := f.(type) {
	case bargein.Duck:
		p.level = ducked
	case bargein.Silence:
		p.level = silenced
	case bargein.Restore:
		p.level = full
	case bargein.SendCandidate:
		p.marks[f.Candidate] = uint32(f.At)
		p.report(&wire.AntiphonBargeInCandidate{
			EventID: candidateEvent(f.Candidate), Candidate: int(f.Candidate), ResponseID: p.replies[f.Resp-1], RTPTimestamp: int(f.At),
		})
	case bargein.ArmDeadline:
		time.AfterFunc(1500*time.Millisecond, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tell(bargein.Expired(f))
			p.retell()
		})
	case bargein.AwaitMark:
		p.awaits, p.mark = f.Candidate, uint32(f.At)
		p.passed()
	case bargein.SendReady:
		p.ready[f.Candidate] = uint32(f.At)
		if !p.noReady {
			p.report(&wire.AntiphonBargeInReady{Candidate: int(f.Candidate), RTPTimestamp: int(f.At)})
		}
	case bargein.Mute:
		p.muted = !p.hushed
	case bargein.SendHeard:
		if !p.noHeard {
			p.report(&wire.AntiphonBargeInHeard{ResponseID: p.replies[f.Resp-1], RTPTimestamp: int(f.At)})
		}
	}
}

func candidateEvent(c bargein.ID) string { return "candidate " + string(rune('0'+c)) }

func (p *predictor) report(e wire.ClientEvent) {
	p.up.put(func() { p.send(string(wire.AppendClient(nil, e))) })
}

// passed tells the machine when the mark that it awaits has been played.
func (p *predictor) passed() {
	if p.awaits != 0 && int32(p.now-p.mark) >= 0 {
		c := p.awaits
		p.awaits = 0
		p.tell(bargein.Passed{Candidate: c})
	}
}

// plays lets the ear have one packet.
func (p *predictor) plays(k packet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = k.ts
	p.passed() // the level is up before the packet sounds
	p.hushed = k.n == 0
	switch {
	case p.hushed:
		p.muted = false
	case p.muted:
		p.mutes++
	default:
		p.heard = append(p.heard, listened{k, p.level})
	}
	p.retell()
}

// retell tells again what is so, and was not taken while a candidate waited.
func (p *predictor) retell() {
	if p.began > 0 {
		p.tell(bargein.Began{Resp: p.began})
	}
	if p.hushed && p.ended > 0 && p.ended >= p.began {
		p.tell(bargein.Ended{Resp: p.ended})
	}
}

// reply is the number of the reply with that name, which is new.
func (p *predictor) reply(name string) id.Response {
	for i, n := range p.replies {
		if n == name {
			return id.Response(i + 1)
		}
	}
	p.replies = append(p.replies, name)
	return id.Response(len(p.replies))
}

// event takes what has come from the server.
func (p *predictor) event(e wire.ServerEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *wire.OutputAudioBufferStarted:
		p.began = p.reply(e.ResponseID)
	case *wire.OutputAudioBufferStopped:
		p.ended = p.reply(e.ResponseID)
	case *wire.OutputAudioBufferCleared:
		p.tell(bargein.Confirmed{Resp: p.reply(e.ResponseID), At: bargein.Mark(p.now)})
	case *wire.InputAudioBufferSpeechStarted:
		if p.began > 0 {
			p.tell(bargein.Confirmed{Resp: p.began, At: bargein.Mark(p.now)})
		}
	case *wire.AntiphonAck:
		for c := range p.marks {
			if candidateEvent(c) == e.Acknowledges {
				p.acked[c] = uint32(e.RTPTimestamp)
				p.tell(bargein.Acked{Candidate: c, At: bargein.Mark(e.RTPTimestamp)})
			}
		}
	case *wire.AntiphonBargeInRejected:
		p.tell(bargein.Rejected{Candidate: bargein.ID(e.Candidate)})
	}
	p.retell()
}

// onset is what the client's own detector finds.
func (p *predictor) onset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest++
	p.tell(bargein.Onset{Candidate: p.newest, At: bargein.Mark(p.now)})
}

// sustained is a voice of the newest candidate that lasts.
func (p *predictor) sustained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(bargein.Sustained{Candidate: p.newest})
}

// says speaks as a person does whose voice the detector of its client hears at once, and the server a moment later.
func (p *predictor) says(pcm []int16) {
	wait(40 * time.Millisecond)
	p.onset()
	wait(p.up.takes)
	p.speak(pcm[:min(len(pcm), 24*180)])
	if len(pcm) > 24*180 {
		p.sustained()
		p.speak(pcm[24*180:])
	}
	p.quiet(700)
}

// ear is what was heard so far.
func (p *predictor) ear() []listened {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]listened(nil), p.heard...)
}

// loudness is the level and the machine's state.
func (p *predictor) loudness() (level, bargein.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.level, p.state
}

// wholly checks that the ear got all of the first reply at full level, in order: of what it had got so at most 40 ms were said again
// at each resume.
func (p *predictor) wholly(text string, resumes int) {
	p.t.Helper()
	covered, repeated := 0, 0
	for _, h := range p.ear() {
		if h.level != full {
			continue
		}
		p.g.Expect(h.pos).To(gomega.BeNumerically("<=", covered), "a part is skipped")
		repeated += min(h.n, covered-h.pos)
		covered = max(covered, h.pos+h.n)
	}
	p.g.Expect(covered).To(gomega.Equal(len(text)*60*24), "the reply is not whole")
	p.g.Expect(repeated).To(gomega.BeNumerically("<=", resumes*40*24), "too much is said again")
}
