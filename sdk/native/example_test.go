//go:build !js

package native_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// A call that asks one question in writing, hears the answer to its end and prints the conversation.
func Example() {
	dialer, err := native.NewDialer(native.Options{
		URL: "http://localhost:8080", Loopback: true,
		Microphone: &native.Microphone{}, Speaker: native.NewSpeaker(0),
	})
	if err != nil {
		log.Fatal(err)
	}
	session, err := sdk.New(sdk.Options{Dialer: dialer, Instructions: "Be brief."})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := session.Connect(ctx); err != nil {
		log.Fatal(err) // the error says what to do
	}
	if err := session.SendText("What is two plus two?"); err != nil {
		log.Print(err)
	}
	answered, err := session.Await(ctx, func(s sdk.Snapshot) bool {
		n := len(s.Transcript)
		return s.State == sdk.Failed || s.State == sdk.Disconnected || n > 1 && s.Transcript[n-1].Role == sdk.Agent && !s.Transcript[n-1].Live && s.State == sdk.Listening
	})
	if err != nil {
		log.Print(err)
	}
	for _, entry := range answered.Transcript {
		fmt.Println(entry.Role, entry.Text)
	}
	if err := session.Close(ctx); err != nil {
		log.Print(err)
	}
}
