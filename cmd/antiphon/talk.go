package main

// This file has the flags of `antiphon talk`.

import (
	"context"
	"net/url"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
)

type talk struct {
	URL          string `arg:"" optional:"" default:"http://localhost:8080" help:"The server's address."`
	Key          string `help:"The API key or client secret, where the server asks for one."`
	Websocket    bool   `help:"Talk over a WebSocket instead of WebRTC."`
	Text         bool   `help:"Write and read: no microphone, no sound."`
	Microphone   string `default:"device" placeholder:"device|none|FILE.wav" help:"What is said: the desktop's microphone (device, or device:NAME), nothing, or a file."`
	Speaker      string `default:"device" placeholder:"device|none|FILE.wav" help:"Where the agent is heard: the desktop's loudspeaker, nowhere, or a file."`
	PushToTalk   bool   `help:"The Enter key begins and ends what you say."`
	Instructions string `help:"The agent's."`
	Model        string `help:"The model to ask for."`
	Voice        string `help:"The agent's voice."`
	Language     string `help:"A hint for the recogniser, such as en."`
	NoPrediction bool   `help:"Leave interruptions to the server alone."`
}

func (t *talk) Run(ctx context.Context) error {
	return terminal.Talk(ctx, terminal.Options{
		URL: t.URL, Key: t.Key, Loopback: onThisMachine(t.URL), WebSocket: t.Websocket,
		Text: t.Text, Microphone: t.Microphone, Speaker: t.Speaker, PushToTalk: t.PushToTalk,
		Model: t.Model, Instructions: t.Instructions, Voice: t.Voice, Language: t.Language, NoPrediction: t.NoPrediction,
	}, terminal.Standard())
}

// onThisMachine reports whether an address has a loopback host, so that only this machine can reach the server.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isLoopback(u.Hostname())
}
