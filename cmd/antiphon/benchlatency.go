package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native/bare"
	"github.com/antiphon-rt/antiphon/wire"
)

// benchCallers is how many calls are measured at a time: enough for many samples, few enough not to disturb each other.
const benchCallers = 4

// silenceMS is the silence that ends a turn in the benchmark. It is waited for by design, and is no share of the server's.
const silenceMS = 200

// settings are what the measured sessions ask for.
var benchSettings = fmt.Sprintf(
	`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":%d}}}}`, silenceMS)

// sample is a list of times that several goroutines add to.
type sample struct {
	mu     sync.Mutex
	values []time.Duration
}

func (s *sample) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, d)
}

// inCalls repeats one story in a few calls at a time until the time is over.
func inCalls(ctx context.Context, s *benchServer, within time.Duration, tell func(ctx context.Context, c *benchCall) error) error {
	return inCallsBy(ctx, s, within, dialBench, tell)
}

// inCallsBy is inCalls over any transport.
func inCallsBy(ctx context.Context, s *benchServer, within time.Duration,
	dial func(ctx context.Context, url, settings string) (*benchCall, error), tell func(ctx context.Context, c *benchCall) error,
) error {
	until := time.Now().Add(within)
	var all sync.WaitGroup
	failed := make(chan error, benchCallers)
	for range benchCallers {
		all.Go(func() {
			c, err := dial(ctx, s.url, benchSettings)
			if err != nil {
				failed <- err
				return
			}
			for err == nil && time.Now().Before(until) {
				err = tell(ctx, c)
			}
			failed <- errors.Join(err, c.close())
		})
	}
	all.Wait()
	var err error
	for range benchCallers {
		err = errors.Join(err, <-failed)
	}
	return err
}

// voiceTurns measures what lies between the end of a person's speech and the answer, without the silence that is waited
// for. The scripted models take next to nothing.
func voiceTurns(ctx context.Context, s *benchServer, r *results, within time.Duration) error {
	var byServer, byCaller sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *benchCall) error {
		_, over, err := c.mouth.say(ctx, "a")
		if err != nil {
			return err
		}
		heard, err := c.soundAfter(ctx, over)
		if err != nil {
			return err
		}
		byCaller.add(heard.Sub(over) - silenceMS*time.Millisecond)
		a, err := await[*wire.AntiphonTurnMetrics](ctx, c)
		if err != nil {
			return err
		}
		if m, is := a.ServerEvent.(*wire.AntiphonTurnMetrics); is {
			byServer.add(time.Duration(m.FirstPacketMS-silenceMS) * time.Millisecond)
		}
		return c.silence(ctx, 100*time.Millisecond)
	})
	r.add("voice to voice, the server's share", "15 / 40 ms", byServer.values)
	r.add("... as the caller hears it", "", byCaller.values)
	return err
}

// requests measures the way from response.create to the first sound.
func requests(ctx context.Context, s *benchServer, r *results, within time.Duration) error {
	var first sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *benchCall) error {
		begin := time.Now()
		if err := c.ask("x"); err != nil {
			return err
		}
		heard, err := c.soundAfter(ctx, begin)
		if err != nil {
			return err
		}
		first.add(heard.Sub(begin))
		if _, err := await[*wire.OutputAudioBufferStopped](ctx, c); err != nil {
			return err
		}
		return c.silence(ctx, 100*time.Millisecond)
	})
	r.add("response.create to the first sound", "", first.values)
	return err
}

// bargeIns measures how soon the agent is quiet when somebody talks over it.
func bargeIns(ctx context.Context, s *benchServer, r *results, within time.Duration) error {
	var held, quiet, confirmed sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *benchCall) error {
		begin := time.Now()
		if err := c.ask("say 100 words"); err != nil {
			return err
		}
		if _, err := c.soundAfter(ctx, begin); err != nil {
			return err
		}
		if _, err := await[*wire.OutputAudioBufferStarted](ctx, c); err != nil {
			return err
		}
		begun, _, err := c.mouth.say(ctx, "stop")
		if err != nil {
			return err
		}
		cleared, err := await[*wire.OutputAudioBufferCleared](ctx, c)
		if err != nil {
			return err
		}
		if hold := s.steps.held(c.id); hold.After(begun) {
			held.add(hold.Sub(begun))
		}
		quiet.add(c.lastSound().Sub(begun))
		confirmed.add(cleared.at.Sub(begun))
		if _, err := await[*wire.OutputAudioBufferStopped](ctx, c); err != nil { // of the answer
			return err
		}
		return c.silence(ctx, 100*time.Millisecond)
	})
	r.add("onset of an interruption to the agent held", "60 ms", held.values)
	r.add("... to the end of its sound", "", quiet.values)
	r.add("... to the interruption confirmed", "700 ms", confirmed.values)
	return err
}

// echoLatency is the reference: how long a packet takes through pion alone, there and back, halved.
func echoLatency(ctx context.Context, within time.Duration) (latencies []time.Duration, err error) {
	caller, called, err := bare.Pair(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, caller.Close(), called.Close()) }()
	stop := make(chan struct{})
	var echo sync.WaitGroup
	echo.Go(func() {
		for {
			select {
			case p := <-called.Packets():
				_ = called.Speak(p.Payload) // a lost packet is no measurement
			case <-stop:
				return
			}
		}
	})
	defer echo.Wait()
	defer close(stop)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for until := time.Now().Add(within); time.Now().Before(until); {
		begin := time.Now()
		if err := caller.Speak([]byte{0xF8, 0xFF, 0xFE}); err != nil {
			return nil, err
		}
		select {
		case <-caller.Packets():
			latencies = append(latencies, time.Since(begin)/2)
		case <-time.After(time.Second): // lost, or the track is not there yet
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		<-ticker.C
	}
	if len(latencies) == 0 {
		return nil, errors.New("no packet came back over the loopback device")
	}
	return latencies, nil
}
