package rtc

import (
	"errors"
	"fmt"
	"io"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// Events on the data channel: reads those of the client, writes those of the queue.

const (
	// sctpHigh and sctpLow bound what SCTP holds and the client has not acknowledged, in bytes. Above sctpHigh the peer writes
	// nothing more until the amount has sunk to sctpLow. That is enough for a path of 100 Mbit/s and 20 ms.
	sctpHigh, sctpLow = 256 << 10, 64 << 10
	// smallBuffer holds all events without audio.
	smallBuffer = 16 << 10
)

// maxChannels is how many data channels a client may open in one call, the first one included. Each costs memory as long as the call.
const maxChannels = 64

// onDataChannel takes the client's first channel for the events, whatever its label is, and closes every other one. A client that opens too
// many fails.
func (p *Peer) onDataChannel(d *webrtc.DataChannel) {
	number := p.taken.takeChannel()
	if number > maxChannels {
		p.fail(fmt.Errorf("rtc: the client opens more than %d data channels: open one, and send events on it", maxChannels))
		return
	}
	d.OnOpen(func() {
		raw, err := d.DetachWithDeadline()
		switch {
		case err != nil:
			p.fail(fmt.Errorf("rtc: data channel: %w", err))
		case number > 1:
			p.engine.cfg.Logger.Debug("data channel refused: the call has one", "label", d.Label())
			_ = raw.Close() // how it ends does not matter
		default:
			c := &eventChannel{raw: raw, written: make(chan struct{}), read: make(chan struct{})}
			p.life.start(func() { p.channel(d, c) })
		}
	})
}

// channel starts the writing of events and then reads the client's events until the channel closes.
func (p *Peer) channel(d *webrtc.DataChannel, c *eventChannel) {
	defer close(c.read)
	if !p.life.start(func() { p.events(d, c) }) {
		return
	}
	p.taken.channelOpened(c)
	p.handler.Opened()
	buf := make([]byte, smallBuffer)
	for {
		n, text, err := c.raw.ReadDataChannel(buf)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && len(buf) < p.engine.cfg.MaxMessage:
			buf = make([]byte, min(4*len(buf), p.engine.cfg.MaxMessage)) // the message stays and is read again
			continue
		case errors.Is(err, io.ErrShortBuffer):
			p.fail(fmt.Errorf("%w of %d bytes; send audio in smaller pieces", link.ErrMessageTooLarge, p.engine.cfg.MaxMessage))
			return
		case err != nil:
			p.fail(link.ErrHungUp)
			return
		}
		p.taken.pieces.read()
		if p.life.closing() {
			continue // the call is over: the peer only waits for the channel to close
		}
		p.counts.eventsReceived.Add(1)
		p.handler.Message(buf[:n], text)
		if len(buf) > smallBuffer {
			buf = make([]byte, smallBuffer)
		}
	}
}

// events writes queued events to the channel as fast as the client takes them.
func (p *Peer) events(d *webrtc.DataChannel, c *eventChannel) {
	defer close(c.written)
	low := make(chan struct{}, 1)
	d.SetBufferedAmountLowThreshold(sctpLow)
	d.OnBufferedAmountLow(func() { signal(low) })
	for {
		event, ok := p.queue.Pop()
		if !ok {
			select {
			case <-p.queue.Available():
			case <-p.life.stop:
				return
			}
			continue
		}
		for d.BufferedAmount() > sctpHigh {
			select {
			case <-low:
			case <-p.life.stop:
				return
			}
		}
		if _, err := c.raw.WriteDataChannel(event, true); err != nil {
			p.fail(fmt.Errorf("%w: %w", link.ErrHungUp, err))
			return
		}
		p.counts.eventsSent.Add(1)
	}
}
