package sdk

// A random test of the session: any event in any order.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestAnythingInAnyOrder chooses random server events, findings of the detector and actions of the user. The client keeps the
// contract of coord/bargein, the agent is ducked only while a candidate waits, and in the end the session listens.
// components-js#1227
func TestAnythingInAnyOrder(t *testing.T) {
	for seed := range uint64(120) {
		synctest.Test(t, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := rand.New(rand.NewPCG(seed, 7))
			c := newRandomCall(t, r, seed)
			for range 80 {
				c.something()
				synctest.Wait()
				c.check(g)
			}
			for range 200 { // a second each: longer than all deadlines after one another
				<-time.After(time.Second)
				c.peer.sink(LevelsMeasured{})
			}
			synctest.Wait()
			c.check(g)
			now := c.session.Snapshot()
			g.Expect(now.State).To(gomega.Equal(Listening), "seed %d", seed)
			g.Expect(now.Confirmed).To(gomega.Equal(Listening), "seed %d", seed)
			g.Expect(now.Predicted || now.Interrupting).To(gomega.BeFalse(), "seed %d", seed)
			g.Expect(c.session.Close(t.Context())).To(gomega.Succeed())
		})
	}
}

// randomCall is a call in which a seed decides all events.
type randomCall struct {
	*rand.Rand
	seed    uint64
	session *Session
	peer    *fakePeer
	gain    float32
	seen    bargein.Seen
	// reported is the event that reported the newest candidate, awaited the position that the session awaits.
	reported string
	awaited  uint32
	broken   string // the first invariant that did not hold, and the step
}

func newRandomCall(t *testing.T, r *rand.Rand, seed uint64) *randomCall {
	c := &randomCall{Rand: r, seed: seed, peer: quiet()}
	c.peer.note = c.noted
	c.gain, c.peer.gain = 1, func(gain float32) { c.gain = gain }
	o := Options{Dialer: &fakeDialer{peer: c.peer, greets: true, ducker: seed%3 == 0, rewinder: seed%3 == 1}}
	o.Tools = []Tool{{Name: "tool", Run: func(context.Context, string) (string, error) { return "done", nil }}}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	c.session = s
	if s.barge.Machine != nil {
		s.barge.Machine = machine.NewCoordinator(bargein.Table, s.barge.State(), c.watch)
		tell(c.peer, &wire.AntiphonAck{EventID: "e", Acknowledges: "client_1", Machines: ownMachines()})
	}
	return c
}

// noted takes what the session asks of its peer.
func (c *randomCall) noted(line string) {
	fields := strings.Fields(line)
	if len(fields) > 2 && fields[2] == "antiphon.barge_in.candidate" {
		c.reported = fields[1]
	}
	var at uint32
	if n, _ := fmt.Sscanf(line, "> (await %d)", &at); n == 1 {
		c.awaited = at
	}
}

func (c *randomCall) watch(step machine.Transition[bargein.State, bargein.Event, bargein.Effect]) {
	var broken string
	c.seen, broken = bargein.Monitor.Watch(c.seen, machine.Edge[bargein.State, bargein.Event, bargein.Effect]{
		From: step.From, Event: step.Event, To: step.To, Effects: step.Effects,
	})
	if broken != "" && c.broken == "" {
		c.broken = fmt.Sprintf("%s: %T -> %T by %T", broken, step.From, step.To, step.Event)
	}
}

func (c *randomCall) check(g *gomega.WithT) {
	g.Expect(c.broken).To(gomega.BeEmpty(), "seed %d", c.seed)
	if !c.session.Snapshot().Interrupting {
		soft := false // the user has stopped the agent and the server has not yet, or the server is asked to go back and has not yet
		c.session.queue.must(func() { soft = c.session.sound.stopBy != Never || c.session.barge.Returning() })
		if !soft {
			g.Expect(c.gain).To(gomega.BeEquivalentTo(1), "seed %d", c.seed)
		}
		g.Expect(c.peer.held).To(gomega.BeFalse(), "seed %d", c.seed)
	}
}

// something lets one random thing happen: an action of the user, a finding of the detector, or a server event.
func (c *randomCall) something() {
	s := c.session
	switch c.IntN(18) {
	case 0:
		_ = s.SendText("hello") // there is a call
	case 1:
		_ = s.Interrupt()
	case 2:
		_ = s.Commit()
	case 3, 4:
		c.peer.sink(SpeechOnset{At: PlayedPosition{Timestamp: c.peer.at.Add(480)}, Known: c.IntN(4) > 0})
	case 5:
		c.peer.sink(SpeechSustained{})
	case 6:
		c.peer.sink(SpeechEnded{})
	case 7:
		c.peer.sink(PositionPassed{At: PlayedPosition{Timestamp: uint32(1 + c.IntN(5)*960)}})
	case 8:
		<-time.After(time.Duration(c.IntN(1600)) * time.Millisecond)
	case 9:
		if c.seed%3 == 1 {
			c.peer.sink(PlaybackStarted{ResponseID: "r" + fmt.Sprint(c.IntN(3))})
		}
	case 10:
		if c.seed%3 == 1 {
			c.peer.sink(PlaybackStopped{ResponseID: "r" + fmt.Sprint(c.IntN(3))})
		}
	case 11: // the server acknowledges the newest candidate and names the position of its silence
		tell(c.peer, &wire.AntiphonAck{EventID: "e", Acknowledges: c.reported, RTPTimestamp: int(c.peer.at.Add(960))})
	case 12: // the playback has passed the position that the session awaits
		c.peer.sink(PositionPassed{At: PlayedPosition{Timestamp: c.awaited}})
	case 13:
		tell(c.peer, &wire.AntiphonBargeInRejected{EventID: "e", Candidate: s.Snapshot().Interruptions.Candidates})
	default:
		tell(c.peer, anyEvent(c.Rand))
	}
}

// anyEvent returns a random server event about turns, responses or playback.
func anyEvent(r *rand.Rand) wire.ServerEvent {
	id := func(kind string) string { return kind + fmt.Sprint(r.IntN(3)) }
	previous := id("u")
	status := []string{"completed", "cancelled", "failed", "incomplete"}[r.IntN(4)]
	events := []wire.ServerEvent{
		&wire.InputAudioBufferSpeechStarted{ItemID: id("u")},
		&wire.InputAudioBufferSpeechStopped{ItemID: id("u")},
		&wire.InputAudioBufferCommitted{ItemID: id("u"), PreviousItemID: &previous},
		&wire.InputAudioBufferCleared{},
		&wire.ConversationItemAdded{Item: wire.Item{ID: id("u"), Type: wire.ItemMessage, Role: "user"}, PreviousItemID: &previous},
		&wire.ConversationItemDeleted{ItemID: id("u")},
		&wire.ConversationItemTruncated{ItemID: id("a"), AudioEndMS: r.IntN(2000)},
		&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: id("u"), Transcript: id("")},
		&wire.ResponseCreated{Response: wire.Response{ID: id("r"), ConversationID: &previous}},
		&wire.ResponseDone{Response: wire.Response{ID: id("r"), Status: status}},
		&wire.ResponseOutputItemAdded{ResponseID: id("r"), Item: wire.Item{ID: id("a"), Type: wire.ItemMessage, Role: "assistant"}},
		&wire.ResponseOutputAudioTranscriptDelta{ResponseID: id("r"), ItemID: id("a"), Delta: "word "},
		&wire.OutputAudioBufferStarted{ResponseID: id("r")},
		&wire.OutputAudioBufferStopped{ResponseID: id("r")},
		&wire.OutputAudioBufferCleared{ResponseID: id("r")},
		&wire.AntiphonAck{Acknowledges: "client_" + fmt.Sprint(r.IntN(60)), RTPTimestamp: 1 + r.IntN(5)*960},
		&wire.AntiphonBargeInRejected{Candidate: r.IntN(12)},
		called(id("c"), "tool"),
	}
	e := events[r.IntN(len(events))]
	e.SetID("e")
	return e
}
