package session

// A Client without an actor: which events wait, who may do what, and what is answered.

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/remote"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// noOutput is a link whose client plays by itself.
type noOutput struct{ link.Link }

func (noOutput) Output() link.Output { return nil }

// clientBench is a Client and the session's machines. It performs no effects.
type clientBench struct {
	*Client
	g     *gomega.WithT
	state coord.State
	seen  []string // names of events for the machines, types of events that are sent or answered, and codes of failures
}

func newBench(t *testing.T) *clientBench {
	t.Helper()
	b := &clientBench{g: gomega.NewWithT(t), state: coord.New(coord.Config{})}
	e, p := env.System(), scripted.New(scripted.Options{})
	log, guard := slog.New(slog.DiscardHandler), watchdog.New(e, watchdog.Defaults())
	set, items := conversation.NewSettings(e, p, wire.DefaultSession(), conversation.Locks{"instructions"}), conversation.New(e, p.Model)
	in, err := listening.NewListening(listening.Parts{
		Env: e, Log: log, Transcriber: p.Transcriber, Guard: guard, Settings: set, Conversation: items, Buffer: listening.MaxBuffer,
		Context: t.Context(), Post: func(listening.Event) bool { return true },
	})
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	player := speaking.NewPlayer(noOutput{}, link.Capabilities{}, e, log, func(speaking.PlayerEvent) bool { return true })
	reconnects := &atomic.Bool{}
	b.Client = &Client{clientParts: clientParts{
		Log: log, Settings: set, Conversation: items, Input: in, Player: player, Token: "token", Reconnects: reconnects, Survival: survival.New(survival.Parts{Reconnects: reconnects}),
		Generator: speaking.New(speaking.Parts{Env: e, Log: log, Pipeline: p, Guard: guard, Settings: set, Conversation: items, Player: player}),
		Remote:    remote.New(remote.Parts{Settings: set}),
	}}
	return b
}

// open opens the session.
func (b *clientBench) open() *clientBench {
	b.step(coord.OfConn{Event: conn.Opened{VAD: true}})
	b.seen = nil
	return b
}

func (b *clientBench) step(e coord.Event) {
	b.seen = append(b.seen, e.Name())
	b.state, _, _ = coord.Next(b.state, playout.Position{}, e)
}

// takes gives the Client an event and returns the names of the resulting events and failures.
func (b *clientBench) takes(from *link.SidebandController, text string) []string {
	b.seen = nil
	_, out := b.Take(Message{From: from, Text: []byte(text)}, &b.state)
	b.do(out)
	return b.seen
}

func (b *clientBench) do(out room.List) {
	for _, a := range out {
		switch a := a.(type) {
		case room.Send:
			b.seen = append(b.seen, a.Event.Type())
		case room.Answer:
			b.seen = append(b.seen, "to the sender: "+a.Event.Type())
		case room.Fail:
			b.seen = append(b.seen, a.Failure.Code)
		case room.Step:
			b.step(a.Event)
		case room.StepAt:
			b.step(a.Event)
		case room.Later:
			b.step(a.Event)
		case room.Then:
			b.do(a.Next(&b.state))
		}
	}
}

const update = `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`

func TestEventsWaitUntilTheSessionIsAnnounced(t *testing.T) {
	b := newBench(t)
	for n := range maxEarly + 3 {
		b.g.Expect(b.takes(nil, fmt.Sprintf(`{"type":"response.create","event_id":"event_%d"}`, n))).To(gomega.BeEmpty())
	}
	early := b.TakeEarly()
	b.g.Expect(early).To(gomega.HaveLen(maxEarly + 1))
	b.g.Expect(string(early[0].Text)).To(gomega.ContainSubstring("event_0"))
	b.g.Expect(early[maxEarly].Refused.Message).To(gomega.HavePrefix("3 events came before session.created"))
	b.g.Expect(b.TakeEarly()).To(gomega.BeEmpty())

	b.takes(nil, update)
	b.takes(nil, strings.Repeat(" ", maxEarlyBytes))
	early = b.TakeEarly()
	b.g.Expect(early).To(gomega.HaveLen(2), "the long one has no room")
	b.g.Expect(early[1].Refused.Code).To(gomega.Equal("session_not_ready"))
}

// TestEarlyEventsKeepTheirOrder: what a client sends before its session is announced is carried out in the order in which it was sent.
func TestEarlyEventsKeepTheirOrder(t *testing.T) {
	story(t, "messages", func(t *testing.T) {
		c := newCaller(t, plain())
		var sent []string
		for i := range maxEarly {
			sent = append(sent, fmt.Sprint("item_", i))
			c.send(`{"type":"conversation.item.create","item":{"id":"` + sent[i] + `","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
		}
		c.start()
		expectSessionWorks(c)
		c.g.Expect(c.doneItems()[:len(sent)]).To(gomega.Equal(sent))
	})
}

func TestEventsOfAnEndedSessionAreDropped(t *testing.T) {
	b := newBench(t).open()
	b.step(coord.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	b.g.Expect(b.takes(nil, update)).To(gomega.BeEmpty())
	b.g.Expect(b.TakeEarly()).To(gomega.BeEmpty())
}

func TestWhoMayChangeALockedField(t *testing.T) {
	b := newBench(t).open()
	b.g.Expect(b.takes(nil, update)).To(gomega.Equal([]string{conversation.CodeLocked}))
	b.g.Expect(b.takes(&link.SidebandController{}, update)).To(gomega.Equal([]string{conversation.CodeLocked}))
	b.g.Expect(b.takes(&link.SidebandController{Rules: true}, update)).To(gomega.Equal([]string{"session.updated", "Configure", "SetVAD"}))
}

func TestTheOriginOfAnAnswer(t *testing.T) {
	b := newBench(t).open()
	side := &link.SidebandController{}
	for _, row := range []struct {
		from  *link.SidebandController
		text  string
		event string
	}{
		{nil, `{"type":"response.cancel","event_id":"event_1"}`, "event_1"},
		{nil, `{"type":"response.cancel"}`, ""},
		{nil, `{"type":"no.such.event","event_id":"event_2"}`, "event_2"},
		{nil, `no JSON`, ""},
		{side, `{"type":"response.cancel","event_id":"event_3"}`, "event_3"},
	} {
		o, _ := b.Take(Message{From: row.from, Text: []byte(row.text)}, &b.state)
		b.g.Expect(o).To(gomega.Equal(room.Origin{Client: true, Side: row.from, Event: row.event}), row.text)
	}
	b.g.Expect(b.Survival.Taken()).To(gomega.Equal("event_2"), "the client's last event with an id; that of a side-band controller is not the client's")
}

func TestAGreeting(t *testing.T) {
	const report, hello = `{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":7}`, `{"type":"antiphon.hello","metrics":true,"barge_in":true}`
	b := newBench(t).open()
	b.g.Expect(b.takes(nil, report)).To(gomega.Equal([]string{"unsupported_event"}), "it has not said that it predicts barge-ins")

	side := &link.SidebandController{}
	b.g.Expect(b.takes(side, hello)).To(gomega.Equal([]string{"Configure", "to the sender: antiphon.ack"}))
	b.g.Expect([]bool{b.Settings.Client.Extended, side.Extended(), b.Reconnects.Load()}).To(gomega.Equal([]bool{true, true, false}))
	b.g.Expect(b.takes(side, report)).To(gomega.Equal([]string{"unsupported_event"}))

	b.g.Expect(b.takes(nil, hello)).To(gomega.Equal([]string{"Configure", "to the sender: antiphon.ack"}))
	b.g.Expect([]bool{b.Settings.Client.Metrics, b.Reconnects.Load()}).To(gomega.Equal([]bool{true, true}))
	b.g.Expect(b.takes(nil, report)).To(gomega.BeEmpty(), "nobody waits for it")
}

func TestAnUnknownResponseIsNotTheLiveOne(t *testing.T) {
	b := newBench(t).open()
	b.g.Expect(b.target("")).To(gomega.BeZero())
	b.g.Expect(b.target("resp_1")).To(gomega.Equal(^b.target("")))
}
