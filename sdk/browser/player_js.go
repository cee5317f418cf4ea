package browser

import (
	"context"
	"syscall/js"
	"unsafe"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/voice"
)

const (
	// wireRate is the rate of the sound in messages, in hertz.
	wireRate = 24000
	// maxPlay is how much sound may wait to be played, and keepPlay how much of what was played is known still, in seconds.
	maxPlay  = 300
	keepPlay = 6
)

// player plays what comes in messages through a worklet, which knows where it is. Places are counted in samples from the
// beginning of the call, at the rate of the audio context.
type player struct {
	tell      func(sdk.PeerEvent)
	rate      int
	line      js.Value // the call in the page
	moved     Func
	resampler *voice.Resampler
	pcm       []int16
	floats    []float32
	sound     []float32

	pieces []piece
	given  int // the end of what was given to the worklet
	base   int // what was given before was thrown away
	at     int // what is played now

	response string // what is being played; "" when nothing is
	last     string // the last response that sound came of
	dropped  string // the response that was stopped: what still comes of it is not played
}

// piece is a part of an item, or the end of a response.
type piece struct {
	response, item string
	index          int
	from, to       int
	end, passed    bool
}

// newPlayer makes a player in a call that hears at this rate.
func newPlayer(ctx context.Context, line js.Value, rate int, tell func(sdk.PeerEvent)) (*player, error) {
	p := &player{tell: tell, rate: rate, line: line}
	var err error
	if p.resampler, err = voice.NewResampler(wireRate, rate); err != nil {
		return nil, err
	}
	p.moved = NewFunc(func(args []js.Value) any {
		p.advance(args[0].Int())
		return nil
	})
	if _, err := ask(ctx, line, "speak", p.moved.Value()); err != nil {
		p.close()
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	return p, nil
}

func (p *player) post(message js.Value) { p.line.Call("post", message) }

// play gives sound to the worklet. It reports false when more waits than may.
func (p *player) play(response, item string, index int, pcm []byte) bool {
	if response == p.dropped {
		return true
	}
	if p.given-p.at > maxPlay*p.rate {
		return false
	}
	p.last = response
	p.pcm = voice.BytesToPCM16(p.pcm[:0], pcm)
	p.floats = voice.PCM16ToFloat(p.floats[:0], p.pcm)
	p.sound = p.resampler.Append(p.sound[:0], p.floats)
	p.give(response, item, index)
	return true
}

// give passes p.sound on.
func (p *player) give(response, item string, index int) {
	if len(p.sound) == 0 {
		return
	}
	bytes := js.Global().Get("Uint8Array").New(4 * len(p.sound))
	js.CopyBytesToJS(bytes, unsafe.Slice((*byte)(unsafe.Pointer(&p.sound[0])), 4*len(p.sound)))
	p.line.Call("play", p.given, bytes)
	end := p.given + len(p.sound)
	if n := len(p.pieces); n > 0 && !p.pieces[n-1].end && p.pieces[n-1].item == item && p.pieces[n-1].index == index {
		p.pieces[n-1].to = end
	} else {
		p.pieces = append(p.pieces, piece{response: response, item: item, index: index, from: p.given, to: end})
	}
	p.given = end
}

func (p *player) finish(response string) {
	if response == p.dropped {
		return
	}
	p.sound = p.resampler.Flush(p.sound[:0])
	if n := len(p.pieces); n > 0 && p.pieces[n-1].response == response {
		p.give(response, p.pieces[n-1].item, p.pieces[n-1].index)
	}
	p.pieces = append(p.pieces, piece{response: response, from: p.given, to: p.given, end: true})
	p.advance(p.at)
}

// advance takes the place that is played.
func (p *player) advance(at int) {
	if at < p.base {
		return // told before the rest was thrown away
	}
	p.at = at
	for i := range p.pieces {
		one := &p.pieces[i]
		switch {
		case one.passed:
		case one.end && at >= one.from:
			one.passed = true
			if p.response == one.response {
				p.response = ""
				p.tell(sdk.PlaybackStopped{ResponseID: one.response})
			}
		case !one.end && at > one.from:
			one.passed = true
			if p.response != one.response {
				p.response = one.response
				p.tell(sdk.PlaybackStarted{ResponseID: one.response})
			}
		}
	}
	for len(p.pieces) > 0 && p.pieces[0].passed && p.pieces[0].to < at-keepPlay*p.rate {
		p.pieces = p.pieces[1:]
	}
}

// position is where the playback is: what is on its way to the loudspeaker is heard, whatever becomes of the rest.
func (p *player) position() (heard sdk.PlayedPosition, ok bool) {
	if p.response == "" {
		return heard, false
	}
	for _, one := range p.pieces {
		if !one.end && (p.at > one.from || !ok) {
			heard = sdk.PlayedPosition{ItemID: one.item, ContentIndex: one.index, MS: max(min(p.at, one.to)-one.from, 0) * 1000 / p.rate}
			ok = true
		}
	}
	return heard, ok
}

// stop throws away what was not played.
func (p *player) stop() (sdk.PlayedPosition, bool) {
	heard, playing := p.position()
	if playing || p.given > p.at {
		p.dropped = p.last
	}
	p.resampler.Reset()
	p.pieces, p.response, p.base, p.at = nil, "", p.given, p.given
	p.post(object("stop", p.given))
	return heard, playing
}

// resume plays on from a place.
func (p *player) resume(from sdk.PlayedPosition) {
	for _, one := range p.pieces {
		if !one.end && one.item == from.ItemID && one.index == from.ContentIndex {
			p.at = min(max(one.from+from.MS*p.rate/1000, p.at-keepPlay*p.rate), p.given)
			p.post(object("seek", p.at, "hold", false))
			return
		}
	}
	p.post(object("hold", false))
}

// close is for a call whose line is closed.
func (p *player) close() { p.moved.Release() }
