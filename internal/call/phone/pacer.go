package phone

import (
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The pacer: gives the transport its frames at its sample rate, and tells the far side's queue what to do.

// pacer belongs to the goroutine that paces.
type pacer struct {
	output    *Output
	transport Transport
	queue     Queue // nil where the far side has none
	flusher   Flusher
	marker    Marker
	handler   gate

	down   *voice.Resampler
	lead   int     // samples of silence that hide the resampler's latency
	narrow []int16 // at the transport's rate, not sent yet
	size   int     // samples of a frame at the transport's rate
	pcm    [outgoing.FrameSize]int16
	paused bool
	err    error // the first error of the transport
}

func newPacer(t Transport, o *Output, h gate) (*pacer, error) {
	rate := t.Traits().Rate
	down, err := voice.NewResampler(outgoing.Rate, rate)
	if err != nil {
		return nil, err
	}
	p := &pacer{output: o, transport: t, handler: h, down: down, size: rate / 50}
	p.lead = (int(down.Latency())*rate + outgoing.Rate - 1) / outgoing.Rate
	if o.most > 0 {
		p.queue, o.can.pause = t.(Queue)
	}
	p.flusher, o.can.flush = t.(Flusher)
	p.marker, o.can.mark = t.(Marker)
	p.restart()
	return p, nil
}

// restart forgets audio that must not be heard any more.
func (p *pacer) restart() {
	p.down.Reset()
	p.narrow = append(p.narrow[:0], make([]int16, p.lead)...)
}

// tick sends what is due each 20 ms. After an error of the transport it sends nothing.
func (p *pacer) tick() {
	p.obey()
	for first := true; p.err == nil; first = false {
		s := p.output.next(&p.pcm, first)
		if !s.none {
			p.send(s)
		}
		if s.over != 0 {
			p.handler.Drained(s.over)
		}
		if s.none {
			return
		}
	}
}

// still passes 20 ms without audio of the response. A far side without a queue gets silence.
func (p *pacer) still() {
	p.obey()
	p.output.skip(1)
	if p.err == nil && p.output.most == 0 {
		clear(p.pcm[:])
		p.check(p.transport.Send(p.pcm[:p.size], false))
	}
}

func (p *pacer) send(s sending) {
	if !s.Voiced {
		clear(p.pcm[:])
	}
	p.narrow = p.down.AppendPCM16(p.narrow, p.pcm[:])
	frame := p.narrow[:p.size]
	p.check(p.transport.Send(frame, s.Voiced))
	p.narrow = p.narrow[:copy(p.narrow, p.narrow[p.size:])]
	if s.mark != 0 && p.err == nil {
		p.check(p.marker.Mark(s.mark))
	}
	if s.Voiced {
		p.handler.Sent(s.Gen, s.Sent, s.First)
	}
}

// obey tells the far side's queue what the output wants.
func (p *pacer) obey() {
	c := p.output.commands()
	if p.err != nil {
		return
	}
	if c.restart {
		p.restart()
	}
	if c.flush {
		p.check(p.flusher.Flush())
		p.paused = false
	}
	if p.queue == nil || c.pause == p.paused {
		return
	}
	if p.paused = c.pause; c.pause {
		p.check(p.queue.Pause())
	} else {
		p.check(p.queue.Continue())
	}
}

func (p *pacer) check(err error) {
	if err != nil && p.err == nil {
		p.err = err
		p.handler.lost(err)
	}
}
