package bench

// This file measures calls over a WebSocket, and the processor time of an event.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// dialSocket places a call over a WebSocket. The call sends no audio, so that the server works on the requests alone.
func dialSocket(ctx context.Context, url, settings string) (*call, error) {
	c := newCall()
	return c.begin(ctx, native.NewSocketDialer(native.Options{URL: url}), sdk.CallConfig{NoMicrophone: true}, settings)
}

// measureSocketRequests measures the time between response.create and the first audio delta over a WebSocket.
func measureSocketRequests(ctx context.Context, s *localServer, r *results, within time.Duration) error {
	var first sample
	err := inCallsOver(ctx, s, within, dialSocket, func(ctx context.Context, c *call) error {
		begin := time.Now()
		if err := c.ask("x"); err != nil {
			return err
		}
		delta, err := await[*wire.ResponseOutputAudioDelta](ctx, c)
		if err != nil {
			return err
		}
		first.add(delta.at.Sub(begin))
		_, err = await[*wire.ResponseDone](ctx, c)
		return err
	})
	r.add("... over a WebSocket", "", first.values)
	return err
}

// textSettings is the session object of a call that gets text, in many small events.
const textSettings = `{"type":"realtime","output_modalities":["text"],"audio":{"input":{"turn_detection":null}}}`

// printEvents writes how much processor time the server takes for an event, and how long the codec alone takes for one in this process.
func printEvents(ctx context.Context, w io.Writer, within time.Duration) (err error) {
	if _, err := consumed(os.Getpid()); err != nil {
		_, err = fmt.Fprintf(w, "Events: not measured: %v\n", err)
		return err
	}
	server, err := startChild(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	c, err := dialSocket(ctx, server.url, textSettings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	before, err := consumed(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	counted := c.count.Load()
	for until := time.Now().Add(within); time.Now().Before(until); {
		if err := c.converse(ctx); err != nil {
			return err
		}
	}
	after, err := consumed(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	events := c.count.Load() - counted
	each, reference := (after.ran-before.ran)/time.Duration(events), codecTime()
	_, err = fmt.Fprintf(w, "Processor time of the server an event, over a WebSocket, of %d events of text:\n"+
		"  reference: the codec alone  %v\n  the server  %v  (x %.1f)\n\n", events, reference, each, float64(each)/float64(reference))
	return err
}

// converse requests a long answer, and then deletes the question and the answer, so that the conversation does not grow.
func (c *call) converse(ctx context.Context) error {
	if err := c.ask("say 200 words"); err != nil {
		return err
	}
	added, err := await[*wire.ConversationItemAdded](ctx, c)
	if err != nil {
		return err
	}
	done, err := await[*wire.ResponseDone](ctx, c)
	if err != nil {
		return err
	}
	var out []wire.ClientEvent
	if e, is := added.ServerEvent.(*wire.ConversationItemAdded); is {
		out = append(out, &wire.ConversationItemDelete{ItemID: e.Item.ID})
	}
	if e, is := done.ServerEvent.(*wire.ResponseDone); is {
		for _, it := range e.Response.Output {
			out = append(out, &wire.ConversationItemDelete{ItemID: it.ID})
		}
	}
	if err := c.send(out...); err != nil {
		return err
	}
	for range out {
		if _, err := await[*wire.ConversationItemDeleted](ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// codecTime returns the time that writing and reading one text delta takes.
func codecTime() time.Duration {
	e := &wire.ResponseOutputTextDelta{
		EventID: "event_abcdefghijklmnopqrstuvwx", ResponseID: "resp_abcdefghijklmnopqrstuvwx", ItemID: "item_abcdefghijklmnopqrstuvwx",
		Delta: "seventy-one ",
	}
	const times = 50_000
	begin := time.Now()
	var text []byte
	for range times {
		text = wire.AppendServer(text[:0], e)
		_, _ = wire.DecodeServer(text) // cannot fail: the text was just written
	}
	return time.Since(begin) / times
}
