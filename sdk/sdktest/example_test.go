package sdktest_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// inExample stands for the *testing.T of a test.
type inExample struct{}

func (inExample) Helper()                           {}
func (inExample) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

// A call without a server: the user asks, the agent answers and is interrupted.
func Example() {
	var t inExample
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{})
	session.Subscribe(func(now sdk.Snapshot) {
		if now.Interrupting {
			fmt.Println("interrupting?")
		}
	})

	server.Speak("item_1", "count to six")
	reply := server.Begin("resp_1")
	reply.Say("One, two, three, ")
	server.Heard(48_000) // the RTP timestamp of what the user hears
	server.Tell(sdk.SpeechOnset{})
	fmt.Println("the agent's gain is", server.Gain())
	candidate := server.Expect("antiphon.barge_in.candidate").(*wire.AntiphonBargeInCandidate)
	fmt.Println("at", candidate.RTPTimestamp)
	server.Clock.Advance(80 * time.Millisecond)
	reply.Interrupt("item_2", time.Second, "One, two,")

	for _, e := range session.Snapshot().Transcript {
		fmt.Printf("%s: %s (interrupted: %v)\n", e.Role, e.Text, e.Interrupted)
	}
	fmt.Println(session.Snapshot().Interruptions.LeadMS, "ms ahead of the server")
	if err := session.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// interrupting?
	// the agent's gain is 0.1
	// at 48000
	// user: count to six (interrupted: false)
	// agent: One, two, (interrupted: true)
	// user:  (interrupted: false)
	// 80 ms ahead of the server
}
