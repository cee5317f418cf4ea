package browser

// The playback of sound that comes in messages, through the playout worklet.

import (
	"context"
	"syscall/js"
	"unsafe"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// wireRate is the sample rate of the sound in messages, in hertz.
	wireRate = 24000
	// maxPlay is how much sound may wait to be played, and keepPlay how much played sound can be played again, in seconds.
	maxPlay  = 300
	keepPlay = 6
)

// player plays the sound of messages through a worklet, which reports its position. Positions are counted in samples from the
// beginning of the call, at the rate of the audio context.
type player struct {
	tell       func(sdk.PeerEvent)
	rate       int
	page       js.Value // the call in the page
	onProgress Func
	resampler  *voice.Resampler
	pcm        []int16
	floats     []float32
	sound      []float32

	segments  []segment
	written   int // the end of the sound that the worklet has got
	discarded int // the sound before this position was discarded
	at        int // the position that is played now

	response        string // the response that is being played; "" for none
	lastResponse    string // the last response that sound came for
	stoppedResponse string // the response that was stopped: its later sound is not played
}

// segment is a stretch of sound of one content part, or the end of a response.
type segment struct {
	response, item string
	index          int
	from, to       int
	end, reported  bool
}

// newPlayer makes a player for a call whose audio context has this rate, in hertz.
func newPlayer(ctx context.Context, line js.Value, rate int, tell func(sdk.PeerEvent)) (*player, error) {
	p := &player{tell: tell, rate: rate, page: line}
	var err error
	if p.resampler, err = voice.NewResampler(wireRate, rate); err != nil {
		return nil, err
	}
	p.onProgress = NewFunc(func(args []js.Value) any {
		p.advance(args[0].Int())
		return nil
	})
	if _, err := await(ctx, line, "speak", p.onProgress.Value()); err != nil {
		p.close()
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	return p, nil
}

// post sends a message to the worklet.
func (p *player) post(message js.Value) { p.page.Call("post", message) }

// play gives sound to the worklet. It returns false when too much sound waits.
func (p *player) play(response, item string, index int, pcm []byte) bool {
	if response == p.stoppedResponse {
		return true
	}
	if p.written-p.at > maxPlay*p.rate {
		return false
	}
	p.lastResponse = response
	p.pcm = voice.BytesToPCM16(p.pcm[:0], pcm)
	p.floats = voice.PCM16ToFloat(p.floats[:0], p.pcm)
	p.sound = p.resampler.Append(p.sound[:0], p.floats)
	p.write(response, item, index)
	return true
}

// write gives the samples in p.sound to the worklet.
func (p *player) write(response, item string, index int) {
	if len(p.sound) == 0 {
		return
	}
	bytes := js.Global().Get("Uint8Array").New(4 * len(p.sound))
	js.CopyBytesToJS(bytes, unsafe.Slice((*byte)(unsafe.Pointer(&p.sound[0])), 4*len(p.sound)))
	p.page.Call("play", p.written, bytes)
	end := p.written + len(p.sound)
	if n := len(p.segments); n > 0 && !p.segments[n-1].end && p.segments[n-1].item == item && p.segments[n-1].index == index {
		p.segments[n-1].to = end
	} else {
		p.segments = append(p.segments, segment{response: response, item: item, index: index, from: p.written, to: end})
	}
	p.written = end
}

// finish marks the end of a response.
func (p *player) finish(response string) {
	if response == p.stoppedResponse {
		return
	}
	p.sound = p.resampler.Flush(p.sound[:0])
	if n := len(p.segments); n > 0 && p.segments[n-1].response == response {
		p.write(response, p.segments[n-1].item, p.segments[n-1].index)
	}
	p.segments = append(p.segments, segment{response: response, from: p.written, to: p.written, end: true})
	p.advance(p.at)
}

// advance takes the position that is being played, and reports the beginning and the end of responses.
func (p *player) advance(at int) {
	if at < p.discarded {
		return // reported before the sound was discarded
	}
	p.at = at
	for i := range p.segments {
		one := &p.segments[i]
		switch {
		case one.reported:
		case one.end && at >= one.from:
			one.reported = true
			if p.response == one.response {
				p.response = ""
				p.tell(sdk.PlaybackStopped{ResponseID: one.response})
			}
		case !one.end && at > one.from:
			one.reported = true
			if p.response != one.response {
				p.response = one.response
				p.tell(sdk.PlaybackStarted{ResponseID: one.response})
			}
		}
	}
	for len(p.segments) > 0 && p.segments[0].reported && p.segments[0].to < at-keepPlay*p.rate {
		p.segments = p.segments[1:]
	}
}

// position returns where the playback is. The sound before it may still be on its way to the loudspeaker.
func (p *player) position() (heard sdk.PlayedPosition, ok bool) {
	if p.response == "" {
		return heard, false
	}
	for _, one := range p.segments {
		if !one.end && (p.at > one.from || !ok) {
			heard = sdk.PlayedPosition{ItemID: one.item, ContentIndex: one.index, MS: max(min(p.at, one.to)-one.from, 0) * 1000 / p.rate}
			ok = true
		}
	}
	return heard, ok
}

// stop discards the sound that was not played. It returns the position that was being played, and whether a response was.
func (p *player) stop() (sdk.PlayedPosition, bool) {
	heard, playing := p.position()
	if playing || p.written > p.at {
		p.stoppedResponse = p.lastResponse
	}
	p.resampler.Reset()
	p.segments, p.response, p.discarded, p.at = nil, "", p.written, p.written
	p.post(object("stop", p.written))
	return heard, playing
}

// resume goes on from a position. Where the position is not known any more, it goes on from where the playback was held.
func (p *player) resume(from sdk.PlayedPosition) {
	for _, one := range p.segments {
		if !one.end && one.item == from.ItemID && one.index == from.ContentIndex {
			p.at = min(max(one.from+from.MS*p.rate/1000, p.at-keepPlay*p.rate), p.written)
			p.post(object("seek", p.at, "hold", false))
			return
		}
	}
	p.post(object("hold", false))
}

// close releases the callback. The call in the page must be closed before.
func (p *player) close() { p.onProgress.Release() }
