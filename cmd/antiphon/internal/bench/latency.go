package bench

// This file measures latencies over WebRTC, and the reference for them.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/bare"
	"github.com/antiphon-rt/antiphon/wire"
)

// callsAtATime is how many calls are measured at a time: many enough for many samples, few enough not to disturb each other.
const callsAtATime = 4

// silenceMS is the silence that ends a turn in the benchmark, in milliseconds. The server waits for it by design, so it is
// subtracted from the latencies.
const silenceMS = 200

// turnSettings is the session object of the measured calls.
var turnSettings = fmt.Sprintf(
	`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":%d}}}}`, silenceMS)

// sample is a list of durations. Several goroutines may add to it at a time.
type sample struct {
	mu     sync.Mutex
	values []time.Duration
}

func (s *sample) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, d)
}

// inCalls repeats tell in callsAtATime calls over WebRTC until the time is over.
func inCalls(ctx context.Context, s *localServer, within time.Duration, tell func(ctx context.Context, c *call) error) error {
	return inCallsOver(ctx, s, within, dial, tell)
}

// inCallsOver is inCalls with calls that dial places.
func inCallsOver(ctx context.Context, s *localServer, within time.Duration,
	dial func(ctx context.Context, url, settings string) (*call, error), tell func(ctx context.Context, c *call) error,
) error {
	until := time.Now().Add(within)
	var all sync.WaitGroup
	failed := make(chan error, callsAtATime)
	for range callsAtATime {
		all.Go(func() {
			c, err := dial(ctx, s.url, turnSettings)
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
	for range callsAtATime {
		err = errors.Join(err, <-failed)
	}
	return err
}

// measureTurns measures the time between the end of the user's speech and the begin of the answer, without the silence that ends
// the turn. The stages of the scripted pipeline take almost no time.
func measureTurns(ctx context.Context, s *localServer, r *results, within time.Duration) error {
	var byServer, byCaller sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *call) error {
		_, over, err := c.microphone.say(ctx, "a")
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

// measureRequests measures the time between response.create and the first sound.
func measureRequests(ctx context.Context, s *localServer, r *results, within time.Duration) error {
	var first sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *call) error {
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

// measureBargeIns measures the time between the onset of a barge-in and the agent's silence.
func measureBargeIns(ctx context.Context, s *localServer, r *results, within time.Duration) error {
	var held, quiet, confirmed sample
	err := inCalls(ctx, s, within, func(ctx context.Context, c *call) error {
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
		begun, _, err := c.microphone.say(ctx, "stop")
		if err != nil {
			return err
		}
		cleared, err := await[*wire.OutputAudioBufferCleared](ctx, c)
		if err != nil {
			return err
		}
		if hold := s.holds.last(c.id); hold.After(begun) {
			held.add(hold.Sub(begun))
		}
		quiet.add(c.lastSound().Sub(begun))
		confirmed.add(cleared.at.Sub(begun))
		if _, err := await[*wire.OutputAudioBufferStopped](ctx, c); err != nil { // the end of the answer
			return err
		}
		return c.silence(ctx, 100*time.Millisecond)
	})
	r.add("onset of an interruption to the agent held", "60 ms", held.values)
	r.add("... to the end of its sound", "", quiet.values)
	r.add("... to the interruption confirmed", "700 ms", confirmed.values)
	return err
}

// echoLatency returns the reference: half the time that a packet takes from one bare pion peer to another and back.
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
				_ = called.Speak(p.Payload) // a packet that is lost is not measured
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
