package session

// A client that predicts barge-in, for tests: the client's machine behind connections with delays.

import (
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// predictor is a client over WebRTC that predicts barge-in with the client's machine (coord/bargein). Events and sound between it and
// the server are delayed. It remembers each packet that it played, and at which level.
type predictor struct {
	*caller
	up, down, media *delayLine

	mu               sync.Mutex
	state            bargein.State
	level            level
	muted            bool // packets are not played until a silent one comes
	now              uint32
	newest           bargein.ID
	awaits           bargein.ID // the candidate for which the client waits until mark has been played; 0 for none
	mark             uint32
	responses        []string // their ids; the machine's number of the first is 1
	began            machine.Response
	ended            machine.Response
	wasSilent        bool // the last played packet was silent
	packets          []playedPacket
	marks            map[bargein.ID]uint32 // by candidate: the position that the client reported
	acked            map[bargein.ID]uint32 // by candidate: the timestamp of the first silent packet, as the server reported it
	ready            map[bargein.ID]uint32
	mutes            int  // how many packets were muted
	noReady, noHeard bool // the client does not send antiphon.barge_in.ready, or .heard
}

// level is how loud the agent is.
type level uint8

const (
	full level = iota
	ducked
	silenced
)

// playedPacket is a packet that was played, with the level at that time. stopped: a silence of the server follows, while the client is ducked.
type playedPacket struct {
	packet
	level   level
	stopped bool
}

// delayLine calls the functions that are put in, in order, each after a fixed delay.
type delayLine struct {
	takes time.Duration
	c     chan carried
	over  sync.WaitGroup
}

type carried struct {
	due time.Time
	do  func()
}

func newDelayLine(takes time.Duration) *delayLine {
	l := &delayLine{takes: takes, c: make(chan carried, 100_000)}
	l.over.Go(func() {
		for x := range l.c {
			<-time.After(time.Until(x.due))
			x.do()
		}
	})
	return l
}

func (l *delayLine) put(do func()) { l.c <- carried{time.Now().Add(l.takes), do} }

func (l *delayLine) end() {
	close(l.c)
	l.over.Wait()
}

// delays are the delays of a connection: of events up to the server, of events down to the client, and of sound (media).
type delays struct{ up, down, media time.Duration }

// near returns the delays of a client in the same town, whose jitter buffer holds two packets.
func near() delays {
	return delays{up: 20 * time.Millisecond, down: 20 * time.Millisecond, media: 65 * time.Millisecond}
}

// byPredictor places a call of a client that predicts barge-in.
func byPredictor(t *testing.T, p *pipeline.Pipeline, far delays) *predictor {
	t.Helper()
	c := newCaller(t, p)
	return predicting(c, far)
}

func predicting(c *caller, far delays) *predictor {
	c.t.Helper()
	p := &predictor{
		caller: c, up: newDelayLine(far.up), down: newDelayLine(far.down), media: newDelayLine(far.media), state: bargein.Silent{},
		marks: map[bargein.ID]uint32{}, acked: map[bargein.ID]uint32{}, ready: map[bargein.ID]uint32{},
	}
	c.t.Cleanup(func() { p.up.end(); p.down.end(); p.media.end() })
	c.tap = func(e wire.ServerEvent) { p.down.put(func() { p.event(e) }) }
	c.pacer = newPacer(c.s, func(k packet) { p.media.put(func() { p.play(k) }) })
	c.start()
	c.send(`{"type":"antiphon.hello","event_id":"hello","barge_in":true}`)
	c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Acknowledges).To(gomega.Equal("hello"))
	return p
}

// tell gives an event to the client's machine and performs the effects. The lock must be held.
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
			EventID: candidateEvent(f.Candidate), Candidate: int(f.Candidate), ResponseID: p.responses[f.Resp-1], RTPTimestamp: int(f.At),
		})
	case bargein.ArmDeadline:
		time.AfterFunc(1500*time.Millisecond, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tell(bargein.Expired(f))
			p.reportPlayback()
		})
	case bargein.AwaitPosition:
		p.awaits, p.mark = f.Candidate, uint32(f.At)
		p.passed()
	case bargein.SendReady:
		p.ready[f.Candidate] = uint32(f.At)
		if !p.noReady {
			p.report(&wire.AntiphonBargeInReady{Candidate: int(f.Candidate), RTPTimestamp: int(f.At)})
		}
	case bargein.Mute:
		p.muted = !p.wasSilent
	case bargein.SendHeard:
		if !p.noHeard {
			p.report(&wire.AntiphonBargeInHeard{ResponseID: p.responses[f.Resp-1], RTPTimestamp: int(f.At)})
		}
	}
}

func candidateEvent(c bargein.ID) string { return "candidate " + string(rune('0'+c)) }

func (p *predictor) report(e wire.ClientEvent) {
	p.up.put(func() { p.send(string(wire.AppendClient(nil, e))) })
}

// passed tells the machine that the mark it awaits has been played, if that is so.
func (p *predictor) passed() {
	if p.awaits != 0 && int32(p.now-p.mark) >= 0 {
		c := p.awaits
		p.awaits = 0
		p.tell(bargein.Passed{Candidate: c})
	}
}

// play plays one packet, at the present level.
func (p *predictor) play(k packet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = k.ts
	if n := len(p.packets); n > 0 && k.n == 0 && p.level == ducked {
		p.packets[n-1].stopped = true
	}
	p.passed() // the level changes before the packet is played
	p.wasSilent = k.n == 0
	switch {
	case p.wasSilent:
		p.muted = false
	case p.muted:
		p.mutes++
	default:
		p.packets = append(p.packets, playedPacket{packet: k, level: p.level})
	}
	p.reportPlayback()
}

// reportPlayback tells the machine which response has begun or ended. It repeats this, since the machine ignores it while a candidate
// waits.
func (p *predictor) reportPlayback() {
	if p.began > 0 {
		p.tell(bargein.Began{Resp: p.began})
	}
	if p.wasSilent && p.ended > 0 && p.ended >= p.began {
		p.tell(bargein.Ended{Resp: p.ended})
	}
}

// number returns the machine's number of the response with this id. A new id gets the next number.
func (p *predictor) number(name string) machine.Response {
	for i, n := range p.responses {
		if n == name {
			return machine.Response(i + 1)
		}
	}
	p.responses = append(p.responses, name)
	return machine.Response(len(p.responses))
}

// event handles a server event.
func (p *predictor) event(e wire.ServerEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *wire.OutputAudioBufferStarted:
		p.began = p.number(e.ResponseID)
	case *wire.OutputAudioBufferStopped:
		p.ended = p.number(e.ResponseID)
	case *wire.OutputAudioBufferCleared:
		p.tell(bargein.Confirmed{Resp: p.number(e.ResponseID), At: bargein.Position(p.now)})
	case *wire.InputAudioBufferSpeechStarted:
		if p.began > 0 {
			p.tell(bargein.Confirmed{Resp: p.began, At: bargein.Position(p.now)})
		}
	case *wire.AntiphonAck:
		for c := range p.marks {
			if candidateEvent(c) == e.Acknowledges {
				p.acked[c] = uint32(e.RTPTimestamp)
				p.tell(bargein.Acked{Candidate: c, At: bargein.Position(e.RTPTimestamp)})
			}
		}
	case *wire.AntiphonBargeInRejected:
		p.tell(bargein.Rejected{Candidate: bargein.ID(e.Candidate)})
	}
	p.reportPlayback()
}

// onset is a speech onset that the client's own detector finds: a new candidate.
func (p *predictor) onset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest++
	p.tell(bargein.Onset{Candidate: p.newest, At: bargein.Position(p.now)})
}

// sustained tells the machine that the speech of the newest candidate is sustained.
func (p *predictor) sustained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(bargein.Sustained{Candidate: p.newest})
}

// says lets the user speak over the agent: the client's detector finds the speech first, and the server gets it a moment later.
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

// played returns the packets that were played so far.
func (p *predictor) played() []playedPacket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]playedPacket(nil), p.packets...)
}

// loudness returns the level and the machine's state.
func (p *predictor) loudness() (level, bargein.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.level, p.state
}

// expectWhole checks that all of the first response was heard in order, at full level or ducked. What the client ducked is played again only
// if a silence followed. At each resume at most 40 ms more may be played again. What is on its way when the client asks for what it has silenced is
// played ahead of that.
func (p *predictor) expectWhole(text string, resumes int) {
	p.t.Helper()
	covered, atFull, repeated, again, ahead := 0, 0, 0, resumes*40*24, 0
	for _, h := range p.played() {
		if h.level == silenced {
			covered, ahead = atFull, int((p.up.takes+p.media.takes).Milliseconds()+40)*24
			continue
		}
		if ahead -= h.n; h.pos > covered && ahead >= 0 {
			continue
		}
		p.g.Expect(h.pos).To(gomega.BeNumerically("<=", covered), "a part is skipped")
		repeated += min(h.n, covered-h.pos)
		covered = max(covered, h.pos+h.n)
		if h.level == full {
			atFull = covered
		}
		if h.stopped {
			again += covered - atFull
		}
	}
	p.g.Expect(covered).To(gomega.Equal(len(text)*60*24), "the response is not whole")
	p.g.Expect(repeated).To(gomega.BeNumerically("<=", again), "too much is played again")
}
