package sdk_test

// The memory of a session over a long call.

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestTalkTakesNoMoreMemory simulates half an hour of talk with coughs, interruptions and messages. At its end the session takes no
// more memory than after ten minutes.
func TestTalkTakesNoMoreMemory(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{Limits: sdk.Limits{Entries: 60}})
	defer session.Subscribe(func(sdk.Snapshot) {})()
	talk := func(from, to int) (heap uint64, goroutines int) {
		for i := from; i < to; i++ {
			turn(g, server, session, i)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	before, goroutines := talk(0, 100) // 6 s a turn
	after, left := talk(100, 300)
	g.Expect(int64(after)-int64(before)).To(gomega.BeNumerically("<", 128<<10), "bytes in 20 minutes")
	g.Expect(left).To(gomega.BeNumerically("<=", goroutines))
	g.Expect(server.Clock.Waiting()).To(gomega.BeNumerically("<=", 1))
	shown := session.Snapshot()
	g.Expect(shown.State).To(gomega.Equal(sdk.Listening))
	g.Expect(shown.Interruptions.Candidates).To(gomega.Equal(300))
	g.Expect(shown.Interruptions.Ahead).To(gomega.Equal(100))
	g.Expect(shown.Interruptions.Rejected).To(gomega.Equal(100))
	g.Expect(shown.Interruptions.Expired).To(gomega.Equal(100))
	g.Expect(session.Inspect().Last).To(gomega.HaveLen(64))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

// turn is 6 s of a call: a question, an answer, and a barge-in candidate over the answer.
func turn(g *gomega.WithT, server *sdktest.Server, session *sdk.Session, i int) {
	n := strconv.Itoa(i)
	server.Speak("u"+n, "how is the weather in "+n)
	r := server.Begin("r" + n)
	r.Say("It is as it was yesterday, ")
	server.Heard(uint32(i)*288_000 + 48_000)
	server.Tell(sdk.SpeechOnset{})
	server.Clock.Advance(160 * time.Millisecond)
	server.Tell(sdk.SpeechSustained{})
	switch i % 3 {
	case 0:
		server.Tell(sdk.SpeechEnded{})
		server.Send(&wire.AntiphonBargeInRejected{Candidate: i + 1})
		r.Say("and the day before.")
		r.End()
	case 1:
		r.Interrupt("v"+n, time.Second, "It is as")
		server.Send(&wire.InputAudioBufferSpeechStopped{ItemID: "v" + n}, &wire.InputAudioBufferCommitted{ItemID: "v" + n},
			&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: "v" + n, Transcript: ""})
	case 2:
		server.Clock.Advance(2 * time.Second)
		r.End()
		g.Expect(session.SendText("thank you")).To(gomega.Succeed())
		server.Begin("s" + n).End()
	}
	server.Tell(sdk.LevelsMeasured{})
	server.Clock.Advance(3 * time.Second)
	server.Sent()
}
