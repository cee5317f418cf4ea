//go:build !js

package native

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/voice"
)

// player plays the replies of a call whose sound comes in messages: in real time, one frame at a time.
type player struct {
	mu     sync.Mutex
	queue  []sound
	queued int // samples. Invariant: the sum of what is in queue, at most MaxQueued's.

	response string // what is being played; "" when nothing is
	item     string
	index    int
	heard    int    // samples of item
	given    string // the last response that sound came of
	dropped  string // the response that was stopped: what still comes of it is not played
}

// sound is a piece of an item, or the end of a response.
type sound struct {
	response, item string
	index          int
	pcm            []int16
	end            bool
}

// play adds sound. It reports false when there is more than is kept.
func (p *player) play(response, item string, index int, pcm []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if response == p.dropped {
		return true
	}
	if p.queued+len(pcm)/2 > int(MaxQueued/FrameTime)*FrameSize {
		return false
	}
	p.given = response
	p.queue = append(p.queue, sound{response: response, item: item, index: index, pcm: voice.BytesToPCM16(nil, pcm)})
	p.queued += len(pcm) / 2
	return true
}

func (p *player) finish(response string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if response != p.dropped {
		p.queue = append(p.queue, sound{response: response, end: true})
	}
}

// stop throws away what was not played and says what was being played.
func (p *player) stop() (sdk.Heard, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := sdk.Heard{ItemID: p.item, ContentIndex: p.index, MS: int(time.Duration(p.heard) * time.Second / Rate / time.Millisecond)}
	playing := p.response != ""
	if playing || len(p.queue) > 0 {
		p.dropped = p.given
	}
	p.queue, p.queued, p.response, p.item, p.heard = nil, 0, "", "", 0
	return was, playing
}

// frame fills pcm with what is played next and gives what has to be told. sounding is false when nothing was played.
func (p *player) frame(pcm []int16) (tell []sdk.PeerEvent, sounding bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		next := &p.queue[0]
		if next.end {
			if p.response == next.response {
				tell = append(tell, sdk.PlaybackStopped{ResponseID: p.response})
				p.response = ""
			}
			p.queue = p.queue[1:]
			continue
		}
		if len(pcm) == 0 {
			return tell, sounding
		}
		if p.response != next.response {
			p.response = next.response
			tell = append(tell, sdk.PlaybackStarted{ResponseID: p.response})
		}
		if p.item != next.item || p.index != next.index {
			p.item, p.index, p.heard = next.item, next.index, 0
		}
		n := copy(pcm, next.pcm)
		pcm, next.pcm = pcm[n:], next.pcm[n:]
		p.heard += n
		p.queued -= n
		sounding = true
		if len(next.pcm) == 0 {
			p.queue = p.queue[1:]
		}
	}
	clear(pcm)
	return tell, sounding
}
