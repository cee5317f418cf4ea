package browser

// Tests of the player over a WebSocket with a fake worklet: positions, stops and rewinds.

import (
	"syscall/js"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

// testPlayer is a player whose worklet is a fake: the test says how far the worklet has played.
type testPlayer struct {
	*player
	g      *gomega.WithT
	events []sdk.PeerEvent
	port   js.Value
}

func newTestPlayer(t *testing.T) *testPlayer {
	t.Helper()
	p := newPage(t)
	m := &testPlayer{g: p.g}
	nobody := NewFunc(func([]js.Value) any { return nil })
	line := host.Call("socket", object("audio", p.audio), nobody.Value())
	e := newCapture(line, func(measurement) {})
	p.g.Expect(e.start(t.Context(), "worklet.js")).To(gomega.Succeed())
	var err error
	m.player, err = newPlayer(t.Context(), line, e.rate, func(e sdk.PeerEvent) { m.events = append(m.events, e) })
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	m.port = p.last("nodes").Get("port")
	t.Cleanup(func() {
		line.Call("close")
		m.close()
		e.close()
		nobody.Release()
		p.g.Expect(LiveFuncs()).To(gomega.BeZero())
	})
	return m
}

// plays gives the player silence of length d for this response and item.
func (m *testPlayer) plays(response, item string, d time.Duration) {
	m.g.Expect(m.play(response, item, 0, make([]byte, 2*int(d.Seconds()*wireRate)))).To(gomega.BeTrue())
}

// reaches makes the worklet report that it has played up to d from the beginning.
func (m *testPlayer) reaches(d time.Duration) {
	m.port.Call("onmessage", object("data", int(d.Seconds()*float64(m.rate))))
}

// told removes and returns the events that the player has reported since the last call.
func (m *testPlayer) told() []sdk.PeerEvent {
	told := m.events
	m.events = nil
	return told
}

func (m *testPlayer) posted() js.Value { return m.port.Get("posted").Call("at", -1) }

func TestAResponseIsPlayedToItsEnd(t *testing.T) {
	m := newTestPlayer(t)
	m.plays("r1", "i1", 500*time.Millisecond)
	m.plays("r1", "i1", 500*time.Millisecond)
	m.g.Expect(m.segments).To(gomega.HaveLen(1), "it is one item")
	_, playing := m.position()
	m.g.Expect(playing).To(gomega.BeFalse())
	m.reaches(100 * time.Millisecond)
	m.g.Expect(m.told()).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStarted{ResponseID: "r1"}}))
	m.reaches(400 * time.Millisecond)
	at, playing := m.position()
	m.g.Expect(playing).To(gomega.BeTrue())
	m.g.Expect(at).To(gomega.Equal(sdk.PlayedPosition{ItemID: "i1", MS: 400}))
	m.reaches(1100 * time.Millisecond)
	m.g.Expect(m.told()).To(gomega.BeEmpty(), "more of it may come")
	m.finish("r1")
	m.g.Expect(m.told()).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStopped{ResponseID: "r1"}}))
	m.plays("r2", "i2", time.Second)
	m.finish("r2")
	m.reaches(1500 * time.Millisecond)
	at, _ = m.position()
	m.g.Expect(at.ItemID).To(gomega.Equal("i2"))
	m.g.Expect(at.MS).To(gomega.BeNumerically("~", 500, 5))
	m.reaches(3 * time.Second)
	m.g.Expect(m.told()).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStarted{ResponseID: "r2"}, sdk.PlaybackStopped{ResponseID: "r2"}}))
	m.reaches(12 * time.Second)
	m.g.Expect(m.segments).To(gomega.BeEmpty(), "what was played long ago is forgotten")
}

func TestAStoppedResponseIsNotPlayed(t *testing.T) {
	m := newTestPlayer(t)
	m.plays("r1", "i1", 2*time.Second)
	m.reaches(700 * time.Millisecond)
	at, playing := m.stop()
	m.g.Expect(playing).To(gomega.BeTrue())
	m.g.Expect(at).To(gomega.Equal(sdk.PlayedPosition{ItemID: "i1", MS: 700}))
	m.g.Expect(m.posted().Get("stop").Int()).To(gomega.Equal(m.written))
	m.told()
	m.reaches(710 * time.Millisecond) // the worklet played it before it had the message
	_, playing = m.position()
	m.g.Expect(playing).To(gomega.BeFalse())
	given := m.written
	m.plays("r1", "i1", time.Second)
	m.finish("r1")
	m.g.Expect(m.written).To(gomega.Equal(given), "it is dropped")
	m.plays("r2", "i2", time.Second)
	m.port.Call("onmessage", object("data", given+m.rate/2))
	m.g.Expect(m.told()).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStarted{ResponseID: "r2"}}))
	at, _ = m.position()
	m.g.Expect(at).To(gomega.Equal(sdk.PlayedPosition{ItemID: "i2", MS: 500}))
}

func TestPlaybackRewindsToAPosition(t *testing.T) {
	m := newTestPlayer(t)
	m.plays("r1", "i1", 3*time.Second)
	m.reaches(time.Second)
	m.resume(sdk.PlayedPosition{ItemID: "i1", MS: 600})
	m.g.Expect(m.posted().Get("seek").Int()).To(gomega.Equal(600 * m.rate / 1000))
	m.g.Expect(m.posted().Get("hold").Bool()).To(gomega.BeFalse())
	at, _ := m.position()
	m.g.Expect(at.MS).To(gomega.Equal(600))
	m.resume(sdk.PlayedPosition{ItemID: "unknown"})
	m.g.Expect(m.posted().Get("seek").IsUndefined()).To(gomega.BeTrue(), "it goes on where it was held")
	m.g.Expect(m.play("r1", "i1", 0, make([]byte, 2*wireRate*maxPlay))).To(gomega.BeTrue())
	m.g.Expect(m.play("r1", "i1", 0, make([]byte, 2))).To(gomega.BeFalse(), "more waits than may")
}
