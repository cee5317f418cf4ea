package speaking

// The Player: one track after another, held, resumed and dropped as the playout machine says.

import (
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// tailFor is how long the end of a track may stay unplayed at the far end after it was sent.
const tailFor = 2 * time.Second

// Player plays one track at a time, and knows what the far end has heard. All methods but Sent belong to the session's
// goroutine.
type Player struct {
	out    link.Output
	paced  *clientPaced // is out where the client plays by itself; nil over WebRTC
	able   link.Capabilities
	log    *slog.Logger
	timers *env.Timers
	post   func(PlayerEvent) bool

	onAir *Track // the track that the output plays
	tail  *Track // a track that was sent to its end, which a reporting client may not have played yet
	// former is the tail that the track on air has followed, as segment next. The client may stop it before it plays the track on air.
	former *Track
	next   uint64
	last   *Track // the newest track, over WebRTC, if it was sent to its end: a cut network may have lost its end
	claim  claim  // what the client has reported of its own candidates
	// awaited is the newest track of which the client must report how far it has played it.
	awaited *Track
	soft    soft

	outside voice.Samples // the length of all audio of out-of-band responses

	away bool // the client cannot be reached at the moment

	emitted room.List // the actions of the client-paced output that take has not returned yet
	credit  atomic.Pointer[Credit]
}

// PlayerEvent is an event that the Player has posted to its session: one of Drained, ReadyDue, HeardDue, TailOver.
//
//sumtype:decl
type PlayerEvent interface{ playerEvent() }

type (
	// Drained: segment Gen was sent to its end.
	Drained struct{ Gen uint64 }
	// TailOver: the client must have played the end of Resp by now.
	TailOver struct{ Resp response.ID }
)

func (Drained) playerEvent()  {}
func (TailOver) playerEvent() {}

// NewPlayer returns the Player of a call. Where link has no Output, the client plays by itself, at its own pace. post
// takes the Player's events from any goroutine; it reports false when the session has ended.
func NewPlayer(link link.Link, able link.Capabilities, e env.Env, log *slog.Logger, post func(PlayerEvent) bool) *Player {
	p := &Player{out: link.Output(), able: able, log: log, timers: env.NewTimers(e), post: post}
	if p.out == nil {
		p.paced = &clientPaced{now: e.Now, emit: p.emit, drained: p.drainedIn}
		p.out = p.paced
	}
	return p
}

// ServerPaced reports whether the server paces the audio (WebRTC), so that the protocol's output_audio_buffer events are
// used. Otherwise the client plays by itself (WebSocket).
func (p *Player) ServerPaced() bool { return p.paced == nil }

// Close stops the Player's timers.
func (p *Player) Close() { p.timers.StopAll() }

func (p *Player) emit(pcm []int16) {
	if p.onAir != nil {
		p.emitted = append(p.emitted, p.onAir.Deltas(pcm)...)
	}
}

func (p *Player) drainedIn(gen uint64, in time.Duration) {
	p.timers.Start("drained", in, func() { p.post(Drained{gen}) })
}

// take returns what the client-paced output has emitted.
func (p *Player) take() room.List {
	out := p.emitted
	p.emitted = nil
	return out
}

// --- one track after another

// Write takes a piece of t's audio. audible says that the playout machine is Playing. Write does nothing for a track
// that was dropped.
func (p *Player) Write(t *Track, pcm []int16, audible bool) room.List {
	if t.dropped {
		return nil
	}
	t.length += voice.Samples(len(pcm))
	if t.Played() {
		p.out.Write(pcm)
		return p.take()
	}
	t.backlog = append(t.backlog, pcm...)
	if t.progress == waiting {
		return nil
	}
	t.progress = waiting
	var out room.List
	if p.paced != nil && audible {
		// The client has all of the response before, and plays this one after it. To wait for the estimated end would only
		// delay the audio.
		out = p.drained(p.paced.gen)
	}
	out.Step(coord.OfPlayout{Event: playout.Begin{Resp: t.resp}})
	return out
}

// WriteOutOfBand is Write for the audio of an out-of-band response: nothing holds it, and the client plays it by itself.
func (p *Player) WriteOutOfBand(t *Track, pcm []int16) room.List {
	t.length += voice.Samples(len(pcm))
	p.outside += voice.Samples(len(pcm))
	return t.Deltas(pcm)
}

// OutOfBand returns how much audio out-of-band responses have had, together.
func (p *Player) OutOfBand() voice.Samples { return p.outside }

// Complete notes that no more audio of t will come.
func (p *Player) Complete(t *Track) {
	t.complete = true
	if p.onAir == t {
		p.out.End()
	}
}

// Play gives the output to t, as segment gen.
func (p *Player) Play(t *Track, gen uint64) room.List {
	p.former, p.tail, p.next = p.tail, nil, gen
	p.last = nil
	remember(p.claim.played[:], t.name)
	p.claim.ducked = false
	p.soft, p.claim.late = soft{}, 0
	p.onAir = t
	t.progress, t.gen = playing, gen
	if t.credit != nil {
		t.credit.since = gen
		p.credit.Store(t.credit)
	}
	p.out.Begin(gen)
	p.out.Write(t.backlog)
	t.backlog = nil
	if t.complete {
		p.out.End()
	}
	return p.take()
}

// Hold stops the track of resp where it is. If that track plays over WebRTC, it goes on softly until Silence. If it was sent to its end, it is on
// air again. ducks says that the client lowers the agent itself.
func (p *Player) Hold(resp response.ID, ducks bool) {
	p.claim.decided = false
	if p.Softens() && p.onAir != nil && p.onAir.resp == resp {
		p.soft = soft{on: true}
		if !ducks {
			p.out.Soften(softGain)
		}
		return
	}
	p.reopen(resp)
	p.Pause(resp)
}

// reopen puts the track of resp on air again if it was sent to its end.
func (p *Player) reopen(resp response.ID) {
	t := p.last
	if p.tail != nil {
		t = p.tail
	}
	if p.onAir != nil || t == nil || t.resp != resp {
		return
	}
	p.EndTail()
	p.last, p.onAir = nil, t
}

// Pause stops the output if the track of resp plays.
func (p *Player) Pause(resp response.ID) {
	if p.onAir != nil && p.onAir.resp == resp {
		p.out.Hold()
	}
}

// Resume continues t at from, as segment gen. If t was sent to its end, it is on air again.
func (p *Player) Resume(t *Track, from playout.Position, gen uint64) room.List {
	p.reopen(t.resp)
	at := t.Position(from)
	if p.soft.on { // the machine knows it to 1 ms
		at = p.out.Sent()
	}
	p.soft = soft{}
	p.out.Resume(gen, at)
	return p.take()
}

// Drop forgets the audio of t that was not sent. It reports whether t was on air; then no track is on air any more.
func (p *Player) Drop(t *Track) (wasOnAir bool) {
	t.dropped, t.backlog = true, nil
	remember(p.claim.cut[:], t.name)
	if p.last == t {
		p.last = nil
	}
	if p.onAir != t {
		return false
	}
	p.out.Drop()
	p.soft = soft{}
	p.offAir()
	return true
}

// Stopped notes that t was sent to its end. first is false if that happened before and its tail was played again since.
// reports says that the client reports how far it has played: then the track is kept as the tail.
func (p *Player) Stopped(t *Track, reports bool) (first bool) {
	p.offAir()
	first = t.progress != sent
	t.progress = sent
	if p.able.Receipts != nil {
		p.last = t
	}
	if reports {
		p.former, p.tail = nil, t
		p.timers.Start("tail", tailFor, func() { p.post(TailOver{t.resp}) })
	}
	return first
}

// tailOver forgets the track of resp if it is the tail, or was it when the track on air began.
func (p *Player) tailOver(resp response.ID) {
	if p.tail != nil && p.tail.resp == resp {
		p.EndTail()
	}
	if p.former != nil && p.former.resp == resp {
		p.former = nil
	}
}

func (p *Player) offAir() {
	p.onAir = nil
	p.credit.Store(nil)
}

// EndTail forgets the tail. It returns the track; nil if there was none.
func (p *Player) EndTail() *Track {
	t := p.tail
	if t != nil {
		p.tail = nil
		p.timers.Stop("tail")
	}
	return t
}

// ResponseEnded notes that the terminal event of t's response is sent. A client that plays by itself gets no audio after
// that. unheard says that the far end has heard nothing of t.
func (p *Player) ResponseEnded(t *Track) (unheard bool) {
	if p.paced == nil {
		return t.progress == silent
	}
	t.backlog = nil
	if p.onAir == t {
		p.paced.backlog = nil
	}
	return !t.Played()
}

// --- what the far end has heard

// OnAir returns the track that the output plays; nil for none.
func (p *Player) OnAir() *Track { return p.onAir }

// Audible returns the track that the far end hears: the one on air, or the tail; nil for none.
func (p *Player) Audible() *Track {
	if p.onAir != nil {
		return p.onAir
	}
	return p.tail
}

// ItemPosition returns how far the audible track was sent.
func (p *Player) ItemPosition() playout.Position {
	if t := p.Audible(); t != nil {
		return t.ItemPosition(p.out.Sent())
	}
	return playout.Position{}
}

// Left returns how much of the audible track has not been played yet. complete is false if there is no such track, or if more of its
// audio will come.
func (p *Player) Left() (left time.Duration, complete bool) {
	t := p.Audible()
	if t == nil || !t.complete {
		return 0, false
	}
	return time.Duration((t.length - p.out.Sent()).Milliseconds(room.OutputRate)) * time.Millisecond, true
}

// The last sounds of a response. Where the client plays by itself, the played position is an estimate.
const (
	lastSounds         = 400 * time.Millisecond
	lastSoundsEstimate = 800 * time.Millisecond
)

// AtEnd reports whether only the last sounds of the audible response are unplayed.
func (p *Player) AtEnd() bool {
	left, complete := p.Left()
	return complete && (left <= lastSounds || !p.ServerPaced() && left <= lastSoundsEstimate)
}

// SentOf returns how much of an item's audio the client has: said is how much was generated, start where it begins in t. Over
// WebRTC all that was generated counts, since only the pacer knows better.
func (p *Player) SentOf(t *Track, start, said voice.Samples) voice.Samples {
	switch {
	case p.paced == nil, t.Played() && p.onAir != t: // everything is sent, or Generator.discount has taken off what is not
		return said
	case p.onAir == t:
		return min(said, max(0, p.paced.written-start))
	}
	return 0 // the track waits, and its audio is still here
}

// Awaits reports whether t plays, is held or waits to be played, or whether its client has not yet reported how far it played t.
func (p *Player) Awaits(t *Track, s *coord.State) bool {
	if t == p.former {
		return true
	}
	switch st := s.Playout.(type) {
	case playout.Playing:
		return st.Resp == t.resp || s.Queued.Has(t.resp)
	case playout.Held:
		return st.Resp == t.resp || s.Queued.Has(t.resp)
	case playout.Cut:
		return st.Resp == t.resp || s.Queued.Has(t.resp)
	case playout.Silent:
		return p.tail == t || p.last == t
	case playout.Terminated:
	}
	return false
}

// Sent reports that a frame of segment gen has gone out, up to position at of the response. It is safe for concurrent
// use with the other methods; the link calls it from one goroutine.
func (p *Player) Sent(gen uint64, at voice.Samples) {
	if c := p.credit.Load(); c != nil && gen >= c.since {
		c.upTo(at)
	}
}

// Handle takes an event that the Player has posted.
func (p *Player) Handle(e PlayerEvent, s *coord.State) room.List {
	switch e := e.(type) {
	case Drained:
		return p.drained(e.Gen)
	case ReadyDue:
		return p.use(p.estimateReady(e), s)
	case HeardDue:
		if cut, ok := s.Playout.(playout.Cut); ok && p.awaited.resp == e.Resp {
			return p.use(p.estimateHeard(p.awaited, cut.At), s)
		}
	case TailOver:
		p.tailOver(e.Resp)
	}
	return nil
}

// drained notes that segment gen was sent to its end.
func (p *Player) drained(gen uint64) room.List {
	if p.onAir == nil {
		return nil
	}
	return room.List{room.Step{Event: coord.OfPlayout{Event: playout.Drained{Resp: p.onAir.resp, Gen: uint32(gen)}}}}
}

// --- a connection that is interrupted and restored

// FollowLink holds the output while the client cannot be reached. When the client is back, the audio goes on where the client may not have
// received it. That is also the end of a response that was sent to its end.
func (p *Player) FollowLink(s *coord.State) room.List {
	_, away := s.Conn.(conn.Interrupted)
	current, plays := s.Playout.(playout.Playing)
	plays = plays && p.onAir != nil
	back := p.away && !away && conn.Up(s.Conn)
	p.away = away
	var out room.List
	if away {
		out = p.stopSoft() // what is held is said again
	}
	switch {
	case away && plays:
		p.out.Hold()
	case back:
		if e, missed := p.missed(s.Playout); missed {
			return room.List{room.Step{Event: coord.OfPlayout{Event: e}}}
		}
		if plays {
			p.out.Resume(uint64(current.Gen), p.out.Sent())
		}
	}
	return append(out, p.take()...)
}

// missed returns which audio of the newest response the client may not have received. ok is false if there is none.
func (p *Player) missed(s playout.State) (e playout.Missed, ok bool) {
	t := p.onAir
	if t == nil {
		t = p.last
	}
	if p.able.Receipts == nil {
		return e, false
	}
	if t == nil { // only the next cut counts
		_, _ = p.able.Receipts.Missed(math.MaxUint64)
		return e, false
	}
	from, ok := p.able.Receipts.Missed(t.gen)
	if held, is := s.(playout.Held); is && from >= t.Position(held.At) {
		return e, false
	}
	return playout.Missed{Resp: t.resp, From: t.ItemPosition(from)}, ok
}
