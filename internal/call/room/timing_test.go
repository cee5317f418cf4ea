package room

// The times of a turn.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestTurn(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(100, 0).Add(time.Duration(ms) * time.Millisecond) }

	t.Run("every moment is counted from the end of the speech, and the first one counts", func(t *testing.T) {
		m := Timing{ItemID: "item_1"}
		m.Committed(at(0), at(500))
		m.Transcribed(at(600))
		for _, again := range []int{0, 5000} {
			m.FirstToken(at(700 + again))
			m.FirstAudio(at(800 + again))
			m.FirstPacket(at(820 + again))
		}
		gomega.NewWithT(t).Expect(m.Event("resp_1", at(2000))).To(gomega.Equal(&wire.AntiphonTurnMetrics{
			ItemID: "item_1", ResponseID: "resp_1", SpeechStoppedMS: 0, CommitMS: 500, TranscriptMS: 600, FirstTokenMS: 700,
			FirstAudioMS: 800, FirstPacketMS: 820, PlaybackEndMS: 2000,
		}))
	})

	t.Run("a model that thinks", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var m Timing
		m.Committed(at(0), at(500))
		g.Expect(m.Event("resp_1", at(2000)).ThinkingMS).To(gomega.BeZero())
		m.Thinking(at(700))
		m.Thinking(at(900))
		g.Expect(m.Event("resp_1", at(2000)).ThinkingMS).To(gomega.Equal(700))
	})

	t.Run("what never came is -1", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var m Timing
		g.Expect(m.Event("resp_1", at(0)).PlaybackEndMS).To(gomega.Equal(-1), "there was no speech")
		m.Committed(time.Time{}, at(0)) // a client that commits by itself
		e := m.Event("resp_1", at(30))
		g.Expect([]int{e.SpeechStoppedMS, e.CommitMS, e.FirstTokenMS, e.PlaybackEndMS}).To(gomega.Equal([]int{0, 0, -1, 30}))
	})
}
