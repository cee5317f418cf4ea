package speaking

// The Player: tracks, positions, reports and their time-outs.

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"golang.org/x/sync/semaphore"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// fakeOutput is a link.Output. The test says how much it has sent. It notes every call.
type fakeOutput struct {
	link.Output
	calls   []string
	written int
	sent    voice.Samples
	resumed voice.Samples
	at      link.Position
	known   bool
	missed  voice.Samples // what Missed returns
	lost    bool
}

func (o *fakeOutput) note(name string)    { o.calls = append(o.calls, name) }
func (o *fakeOutput) Begin(uint64)        { o.note("begin") }
func (o *fakeOutput) Write(pcm []int16)   { o.written += len(pcm) }
func (o *fakeOutput) End()                { o.note("end") }
func (o *fakeOutput) Hold() voice.Samples { o.note("hold"); return o.sent }
func (o *fakeOutput) Drop() voice.Samples { o.note("drop"); return o.sent }
func (o *fakeOutput) Sent() voice.Samples { return o.sent }
func (o *fakeOutput) Soften(float32)      { o.note("soften") }
func (o *fakeOutput) Resume(_ uint64, from voice.Samples) {
	o.note("resume")
	o.resumed = from
}
func (o *fakeOutput) Missed(uint64) (voice.Samples, bool)     { return o.missed, o.lost }
func (o *fakeOutput) FirstSilent() (uint32, bool)             { return 77, true }
func (o *fakeOutput) PositionAt(uint32) (link.Position, bool) { return o.at, o.known }

// fakeLink is a link over WebRTC, or over a WebSocket where out is nil.
type fakeLink struct {
	link.Link
	out *fakeOutput
}

func (l fakeLink) Output() link.Output {
	if l.out == nil {
		return nil
	}
	return l.out
}

// playerBench is a Player with everything that it posts.
type playerBench struct {
	*Player
	g      *gomega.WithT
	out    *fakeOutput
	posted []PlayerEvent
	state  coord.State
}

func newPlayerBench(t *testing.T, serverPaced bool) *playerBench {
	t.Helper()
	b := &playerBench{g: gomega.NewWithT(t), state: coord.New(coord.Config{})}
	b.state.Conn = conn.Live{}
	to := fakeLink{}
	if serverPaced {
		b.out = &fakeOutput{known: true}
		to.out = b.out
	}
	b.Player = NewPlayer(to, link.Resolve(to), env.System(), slog.New(slog.DiscardHandler), func(e PlayerEvent) bool {
		b.posted = append(b.posted, e)
		return true
	})
	t.Cleanup(b.Close)
	return b
}

// track returns a track of the first response, with the first item.
func (b *playerBench) track() *Track {
	var encoder *room.Encoder
	if !b.ServerPaced() {
		encoder = &room.Encoder{}
	}
	t := &Track{resp: 1, name: "resp_1", encoder: encoder}
	t.parts = append(t.parts, part{item: 1, name: "item", index: 0, start: t.length})
	return t
}

func seconds(n int) []int16 { return make([]int16, n*room.OutputRate) }

// events returns the machines' events among actions.
func events(out room.List) (found []coord.Event) {
	for _, a := range out {
		if step, is := a.(room.Step); is {
			found = append(found, step.Event)
		}
	}
	return found
}

func TestATrackIsPlayedFromItsFirstAudioOn(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.g.Expect(events(b.Write(one, seconds(1), false))).To(gomega.Equal([]coord.Event{coord.OfPlayout{Event: playout.Begin{Resp: 1}}}))
	b.g.Expect(b.Write(one, seconds(1), false)).To(gomega.BeEmpty(), "the machines know of it")
	b.g.Expect(b.out.written).To(gomega.BeZero(), "the audio waits for the machines")
	b.Play(one, 1)
	b.g.Expect(b.out.written).To(gomega.Equal(2 * room.OutputRate))
	b.Write(one, seconds(1), true)
	b.g.Expect(b.out.written).To(gomega.Equal(3 * room.OutputRate))
	b.Complete(one)
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"begin", "end"}))
	b.g.Expect(b.OnAir()).To(gomega.BeIdenticalTo(one))
	b.g.Expect(events(b.drained(1))).To(gomega.Equal([]coord.Event{coord.OfPlayout{Event: playout.Drained{Resp: 1, Gen: 1}}}))
}

func TestADroppedTrackTakesNoMoreAudio(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(1), false)
	b.Play(one, 1)
	b.g.Expect(b.Drop(one)).To(gomega.BeTrue(), "it was on air")
	b.g.Expect(b.Drop(one)).To(gomega.BeFalse())
	b.Write(one, seconds(1), false)
	b.g.Expect(one.Length()).To(gomega.Equal(voice.Samples(room.OutputRate)))
	b.g.Expect(b.WasCut("resp_1")).To(gomega.BeTrue())
	b.g.Expect(b.Audible()).To(gomega.BeNil())
}

func TestMarksAndPositionsAreInverse(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(2), false)
	one.parts = append(one.parts, part{item: 5, name: "item_5", index: 1, start: one.length})
	b.Write(one, seconds(2), false)
	for at, mark := range map[voice.Samples]playout.Position{
		0: {Item: 1}, second / 2: {Item: 1, MS: 500}, 2 * second: {Item: 5}, 3 * second: {Item: 5, MS: 1000},
	} {
		b.g.Expect(one.ItemPosition(at)).To(gomega.Equal(mark))
		b.g.Expect(one.Position(mark)).To(gomega.Equal(at))
	}
	b.g.Expect(one.Position(playout.Position{Item: 9, MS: 5})).To(gomega.BeZero(), "it is another track's item")
}

func TestTheTailOfATrackIsKeptForAClientThatReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPlayerBench(t, true)
		one := b.track()
		b.Write(one, seconds(1), false)
		b.Play(one, 1)
		b.g.Expect(b.Stopped(one, true)).To(gomega.BeTrue(), "its first end")
		b.g.Expect(b.Audible()).To(gomega.BeIdenticalTo(one))
		b.state.Playout = playout.Silent{Last: 1}
		b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeTrue())

		b.Hold(1, false)
		b.g.Expect(b.OnAir()).To(gomega.BeIdenticalTo(one), "the tail is on air again")
		b.g.Expect(b.Stopped(one, true)).To(gomega.BeFalse(), "its tail was played again")
		<-time.After(tailFor)
		synctest.Wait()
		b.g.Expect(b.posted).To(gomega.Equal([]PlayerEvent{TailOver{1}}))
		b.tailOver(1)
		b.g.Expect(b.Audible()).To(gomega.BeNil())
		b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeTrue(), "a cut network may have lost its end")
		b.Play(b.track(), 2)
		b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeFalse())
	})
}

func TestAReportNamesAPositionByItsTimestamp(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(3), false)
	b.Play(one, 4)
	b.out.sent = 2 * second
	for name, row := range map[string]struct {
		at   link.Position
		mark playout.Position
	}{
		"in speech":                             {link.Position{Gen: 4, At: second}, playout.Position{Item: 1, MS: 1000}},
		"in the response before it":             {link.Position{Gen: 3, At: second}, playout.Position{Item: 1}},
		"in the silence that is being sent":     {link.Position{Gen: 4, At: second, Silent: true}, playout.Position{Item: 1, MS: 2000}},
		"in a silence after which it continued": {link.Position{Gen: 4, At: second, Silent: true, NextGen: 5, Next: second / 2}, playout.Position{Item: 1, MS: 500}},
	} {
		t.Run(name, func(t *testing.T) {
			b.out.at = row.at
			gomega.NewWithT(t).Expect(b.DuckedAt(1000)).To(gomega.Equal(row.mark))
		})
	}
	b.out.known = false
	b.g.Expect(b.DuckedAt(1000)).To(gomega.Equal(playout.Position{Item: 1, MS: 2000}), "an unknown timestamp: what was sent stands for it")
	b.g.Expect(b.DuckedAt(0)).To(gomega.Equal(playout.Position{Item: 1, MS: 2000}), "no timestamp")
}

func TestACandidateIsTakenOnceAndForAResponseThatPlays(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(1), false)
	b.Play(one, 1)
	playing := playout.Playing{Resp: 1, Gen: 1}
	for _, row := range []struct {
		name         string
		n            int
		response     string
		fresh, opens bool
	}{
		{"of the response that plays", 1, "resp_1", true, true},
		{"the same again", 1, "resp_1", false, false},
		{"of a response that never played", 2, "resp_9", true, false},
		{"an older one", 1, "resp_1", false, false},
	} {
		fresh, opens := b.TakeCandidate(row.n, row.response, playing)
		b.g.Expect([]bool{fresh, opens}).To(gomega.Equal([]bool{row.fresh, row.opens}), row.name)
	}
	fresh, opens := b.TakeCandidate(3, "resp_1", playout.Silent{})
	b.g.Expect([]bool{fresh, opens}).To(gomega.Equal([]bool{true, false}), "it has been played to its end")
	b.g.Expect(b.RejectNewest()).To(gomega.Equal(&wire.AntiphonBargeInRejected{Candidate: 3}))
	b.g.Expect(b.Acknowledge("event_1")).To(gomega.Equal(&wire.AntiphonAck{Acknowledges: "event_1", RTPTimestamp: 77}))
}

// TestACandidateThatHoldsNothingIsRejected: the client learns it as soon as the turn of its candidate is over, unless the response is held for this very candidate.
func TestACandidateThatHoldsNothingIsRejected(t *testing.T) {
	for _, open := range []turn.State{turn.Idle{}, turn.Candidate{Turn: 5}, turn.Speaking{Turn: 5}, turn.Speaking{Turn: 6}} {
		for _, s := range []playout.State{playout.Silent{}, playout.Playing{Resp: 1}, playout.Cut{Resp: 1}, playout.Held{Resp: 1, Client: 4}, playout.Held{Resp: 1, Client: 5}} {
			b := newPlayerBench(t, true)
			b.TakeCandidate(1, "resp_1", playout.Playing{Resp: 1})
			b.Opened(5)
			var want *wire.AntiphonBargeInRejected
			if turn.Open(open) != 5 && s != playout.State(playout.Held{Resp: 1, Client: 5}) {
				want = &wire.AntiphonBargeInRejected{Candidate: 1}
			}
			b.g.Expect(b.Settled(&coord.State{Turn: open, Playout: s})).To(gomega.Equal(want), "%+v %+v", open, s)
		}
	}
}

func TestANewClientCountsItsCandidatesAnew(t *testing.T) {
	b := newPlayerBench(t, true)
	take := func(n int) bool {
		fresh, _ := b.TakeCandidate(n, "resp_1", playout.Silent{})
		return fresh
	}
	b.g.Expect([]bool{take(2), take(1)}).To(gomega.Equal([]bool{true, false}))
	b.NewClient()
	b.g.Expect(take(1)).To(gomega.BeTrue())
}

func TestALateReportIsReplacedByAnEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newPlayerBench(t, true)
		one := b.track()
		b.Write(one, seconds(3), false)
		b.Play(one, 1)
		b.out.sent, b.out.at = 2*second, link.Position{Gen: 1, At: second}
		b.DuckedAt(1000)
		b.AwaitReady(7)
		<-time.After(usualTrip + reportWait)
		synctest.Wait()
		b.g.Expect(b.posted).To(gomega.Equal([]PlayerEvent{ReadyDue{7}}))
		e := b.estimateReady(ReadyDue{7})
		b.g.Expect(e.event).To(gomega.Equal(coord.OfPlayout{Event: playout.ReadyExpired{Candidate: 7}}))
		b.g.Expect(e.uncertain).To(gomega.Equal(time.Second), "what was sent since the client ducked")
		b.AwaitHeard(one)
		<-time.After(usualTrip + reportWait)
		synctest.Wait()
		b.g.Expect(b.posted).To(gomega.Equal([]PlayerEvent{ReadyDue{7}, HeardDue{one.resp}}))
	})
}

func TestAWebSocketClientGetsItsAudioAtOnceAndItsCreditBack(t *testing.T) {
	b := newPlayerBench(t, false)
	one := b.track()
	credit := &Credit{Room: semaphore.NewWeighted(LookAhead)}
	one.credit = credit
	b.g.Expect(credit.Room.TryAcquire(LookAhead)).To(gomega.BeTrue())
	b.Write(one, seconds(1), false)
	out := b.Play(one, 1)
	b.g.Expect(out).To(gomega.HaveLen(5), "200 ms in one event")
	for _, a := range out {
		a.(room.Send).Sent()
	}
	b.g.Expect(credit.Room.TryAcquire(room.OutputRate)).To(gomega.BeTrue())
	b.g.Expect(credit.Room.TryAcquire(1)).To(gomega.BeFalse())
	b.g.Expect(b.SentOf(one, 0, 3*second)).To(gomega.Equal(second))
}

func TestAudioThatAWebSocketClientLacksIsNotSentAfterTheEnd(t *testing.T) {
	b := newPlayerBench(t, false)
	one := b.track()
	b.Write(one, seconds(1), false)
	b.g.Expect(b.SentOf(one, 0, second)).To(gomega.BeZero(), "it waits")
	b.g.Expect(b.ResponseEnded(one)).To(gomega.BeTrue(), "nobody has heard of it")
	b.g.Expect(b.Play(one, 1)).To(gomega.BeEmpty())
}

func TestALostConnectionHoldsTheOutput(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(9), false)
	b.Play(one, 1)
	b.out.sent = 5 * second
	b.state.Playout = playout.Playing{Resp: 1, Gen: 1}
	for _, row := range []struct {
		lost bool
		want room.List
	}{
		{lost: false},
		{lost: true, want: room.List{room.Step{Event: coord.OfPlayout{Event: playout.Missed{Resp: 1, From: playout.Position{Item: 1, MS: 2000}}}}}},
	} {
		b.state.Conn = conn.Interrupted{}
		b.FollowLink(&b.state)
		b.g.Expect(b.out.calls).To(gomega.ContainElement("hold"))
		b.out.missed, b.out.lost = 2*second, row.lost
		b.state.Conn = conn.Live{}
		b.g.Expect(b.FollowLink(&b.state)).To(gomega.Equal(row.want))
		b.g.Expect(b.out.resumed).To(gomega.Equal(5 * second))
	}
}

// TestAHeldResponseNeverMovesForward: what a cut network has lost moves the position of a held response back, and never forward.
func TestAHeldResponseNeverMovesForward(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(9), false)
	b.Play(one, 1)
	b.out.lost = true
	for held := range voice.Samples(5) {
		for lost := range voice.Samples(5) {
			b.state.Playout = playout.Held{Resp: 1, Started: true, Gen: 1, At: one.ItemPosition(held * second)}
			b.state.Conn = conn.Interrupted{}
			b.FollowLink(&b.state)
			b.out.missed = lost * second
			b.state.Conn = conn.Live{}
			var want []coord.Event
			if lost < held {
				want = []coord.Event{coord.OfPlayout{Event: playout.Missed{Resp: 1, From: one.ItemPosition(lost * second)}}}
			}
			b.g.Expect(events(b.FollowLink(&b.state))).To(gomega.Equal(want), "held at %d s, lost from %d s on", held, lost)
		}
	}
}

// TestTheEndThatACutHasLost: a track that was sent to its end is on air again when the machine plays its end again.
func TestTheEndThatACutHasLost(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(1), false)
	b.Complete(one)
	b.Play(one, 1)
	b.Stopped(one, false)
	b.out.missed, b.out.lost = second/2, true
	b.state.Playout = playout.Silent{Gen: 1, Last: 1}
	b.state.Conn = conn.Interrupted{}
	b.FollowLink(&b.state)
	b.state.Conn = conn.Live{}
	from := playout.Position{Item: 1, MS: 500}
	b.g.Expect(b.FollowLink(&b.state)).To(gomega.Equal(room.List{room.Step{Event: coord.OfPlayout{Event: playout.Missed{Resp: 1, From: from}}}}))
	b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeTrue(), "the response is kept")
	b.Resume(one, from, 2)
	b.g.Expect(b.OnAir()).To(gomega.BeIdenticalTo(one))
	b.g.Expect(b.out.resumed).To(gomega.Equal(second / 2))
}

// TestOnlyTheDroppedTrackIsForgotten: a track that waits is dropped, and the end of the one before it may still be lost by a cut.
func TestOnlyTheDroppedTrackIsForgotten(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(1), false)
	b.Complete(one)
	b.Play(one, 1)
	b.Stopped(one, false)
	b.state.Playout = playout.Silent{Gen: 1, Last: 1}
	b.Drop(&Track{resp: 2, name: "resp_2", encoder: nil})
	b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeTrue(), "another track was dropped")
	b.Drop(one)
	b.g.Expect(b.Awaits(one, &b.state)).To(gomega.BeFalse(), "nobody plays it again")
}

// TestTheLastSoundsAreTheEnd: where the client plays by itself, the position is an estimate, and more counts as the end.
func TestTheLastSoundsAreTheEnd(t *testing.T) {
	for name, row := range map[string]struct {
		serverPaced bool
		end         time.Duration
	}{"over WebRTC": {true, lastSounds}, "over a WebSocket": {false, lastSoundsEstimate}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newPlayerBench(t, row.serverPaced)
				one := b.track()
				b.Write(one, seconds(2), false)
				b.Play(one, 1)
				b.Complete(one)
				played := func(d time.Duration) {
					<-time.After(d)
					if b.out != nil {
						b.out.sent += voice.Samples(d * room.OutputRate / time.Second)
					}
				}
				played(2*time.Second - row.end - 20*time.Millisecond)
				b.g.Expect(b.AtEnd()).To(gomega.BeFalse())
				played(20 * time.Millisecond)
				b.g.Expect(b.AtEnd()).To(gomega.BeTrue())
			})
		})
	}
}
