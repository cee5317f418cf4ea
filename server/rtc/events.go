package rtc

import (
	"errors"
	"fmt"
	"io"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

const (
	// sctpHigh and sctpLow bound what is handed to SCTP and not acknowledged, in bytes: above the one nothing
	// more goes in until it has sunk to the other. It fills a path of 100 Mbit/s and 20 ms.
	sctpHigh, sctpLow = 256 << 10, 64 << 10
	// smallBuffer holds all but the events with audio in them.
	smallBuffer = 16 << 10
)

// onDataChannel takes the channel of events and closes every other one.
func (p *Peer) onDataChannel(d *webrtc.DataChannel) {
	p.mu.Lock()
	wanted := d.Label() == eventsLabel && !p.opened
	p.opened = p.opened || wanted
	p.mu.Unlock()
	d.OnOpen(func() {
		raw, err := d.DetachWithDeadline()
		switch {
		case err != nil:
			p.fail(fmt.Errorf("rtc: data channel: %w", err))
		case !wanted:
			p.engine.cfg.Logger.Debug("data channel refused", "label", d.Label(), "wanted", eventsLabel)
			_ = raw.Close() // its end is all the same to us
		default:
			p.start(func() { p.channel(d, &line{raw: raw, written: make(chan struct{}), read: make(chan struct{})}) })
		}
	})
}

// channel opens the way for events and then reads them.
func (p *Peer) channel(d *webrtc.DataChannel, l *line) {
	defer close(l.read)
	if !p.start(func() { p.events(d, l) }) {
		return
	}
	p.mu.Lock()
	p.line = l
	p.mu.Unlock()
	p.handler.Opened()
	buf := make([]byte, smallBuffer)
	for {
		n, text, err := l.raw.ReadDataChannel(buf)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && len(buf) < p.engine.cfg.MaxMessage:
			buf = make([]byte, min(4*len(buf), p.engine.cfg.MaxMessage)) // the message stays to be read again
			continue
		case errors.Is(err, io.ErrShortBuffer):
			p.fail(fmt.Errorf("%w of %d bytes; send audio in smaller pieces", call.ErrMessageTooLarge, p.engine.cfg.MaxMessage))
			return
		case err != nil:
			p.fail(call.ErrHungUp)
			return
		}
		if p.closing() {
			continue // the call is over: only its end is waited for
		}
		p.counts.eventsReceived.Add(1)
		p.handler.Message(buf[:n], text)
		if len(buf) > smallBuffer {
			buf = make([]byte, smallBuffer)
		}
	}
}

// events writes queued events to the channel as fast as the client takes them.
func (p *Peer) events(d *webrtc.DataChannel, l *line) {
	defer close(l.written)
	low := make(chan struct{}, 1)
	d.SetBufferedAmountLowThreshold(sctpLow)
	d.OnBufferedAmountLow(func() { signal(low) })
	for {
		event, ok := p.queue.pop()
		if !ok {
			select {
			case <-p.queue.available:
			case <-p.stop:
				return
			}
			continue
		}
		for d.BufferedAmount() > sctpHigh {
			select {
			case <-low:
			case <-p.stop:
				return
			}
		}
		if _, err := l.raw.WriteDataChannel(event, true); err != nil {
			p.fail(fmt.Errorf("%w: %w", call.ErrHungUp, err))
			return
		}
		p.counts.eventsSent.Add(1)
	}
}
