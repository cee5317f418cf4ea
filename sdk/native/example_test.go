//go:build !js

package native_test

import (
	"context"
	"fmt"
	"log"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// A call that asks one question in writing and prints the conversation as it grows.
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
	session.Subscribe(func(s sdk.Snapshot) {
		fmt.Println(s.State)
		for _, entry := range s.Transcript {
			fmt.Println(" ", entry.Role, entry.Text)
		}
	})
	ctx := context.Background()
	if err := session.Connect(ctx); err != nil {
		log.Fatal(err) // the error says what to do
	}
	if err := session.SendText("What is two plus two?"); err != nil {
		log.Print(err)
	}
	if err := session.Close(ctx); err != nil {
		log.Print(err)
	}
}
