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
	mu sync.Mutex
	playerState
}

// playerState is all that a player has to play, and how far it has come.
type playerState struct {
	queue  []sound
	queued int // samples. Invariant: the sum of what is in queue, at most MaxQueued's.

	response        string // what is being played; "" when nothing is
	item            string
	index           int
	itemSamples     int    // samples of item
	lastResponse    string // the last response that sound came of
	stoppedResponse string // the response that was stopped: what still comes of it is not played

	held          bool
	played        []sound // of response, oldest first: the last keepPlayed
	playedSamples int     // samples in played
}

// keepPlayed is how far a player can go back, in samples: 6 s.
const keepPlayed = 6 * Rate

// sound is a piece of an item, or the end of a response.
type sound struct {
	response, item string
	index          int
	from           int // the first sample's place in the item; of what was played
	pcm            []int16
	end            bool
}

// play adds sound. It reports false when there is more than is kept.
func (p *player) play(response, item string, index int, pcm []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if response == p.stoppedResponse {
		return true
	}
	if p.queued+len(pcm)/2 > int(MaxQueued/FrameTime)*FrameSize {
		return false
	}
	p.lastResponse = response
	p.queue = append(p.queue, sound{response: response, item: item, index: index, pcm: voice.BytesToPCM16(nil, pcm)})
	p.queued += len(pcm) / 2
	return true
}

func (p *player) finish(response string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if response != p.stoppedResponse {
		p.queue = append(p.queue, sound{response: response, end: true})
	}
}

// stop throws away what was not played and says what was being played.
func (p *player) stop() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.where()
	playing := p.response != ""
	if playing || len(p.queue) > 0 {
		p.stoppedResponse = p.lastResponse
	}
	p.queue, p.queued, p.response, p.item, p.itemSamples, p.held = nil, 0, "", "", 0, false
	p.forget()
	return was, playing
}

// position is the end of what the loudspeaker was given.
func (p *player) position() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.where(), p.response != ""
}

func (p *player) where() sdk.PlayedPosition {
	ms := int(time.Duration(p.itemSamples) * time.Second / Rate / time.Millisecond)
	return sdk.PlayedPosition{ItemID: p.item, ContentIndex: p.index, MS: ms}
}

func (p *player) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = p.response != ""
}

// resume goes back to where from is kept, and plays on.
func (p *player) resume(from sdk.PlayedPosition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
	at := from.MS * (Rate / 1000)
	for i, s := range p.played {
		if s.item != from.ItemID || s.index != from.ContentIndex || at < s.from || at > s.from+len(s.pcm) {
			continue
		}
		again := append([]sound(nil), p.played[i:]...)
		again[0].from, again[0].pcm = at, s.pcm[at-s.from:]
		for _, a := range again {
			p.queued += len(a.pcm)
		}
		p.queue = append(again, p.queue...)
		p.item, p.index, p.itemSamples = s.item, s.index, at
		p.played = p.played[:i]
		p.playedSamples = 0
		for _, k := range p.played {
			p.playedSamples += len(k.pcm)
		}
		return
	}
}

// keep remembers what was just played of a sound.
func (p *player) keep(s sound) {
	p.played = append(p.played, s)
	for p.playedSamples += len(s.pcm); p.playedSamples > keepPlayed; p.played = p.played[1:] {
		p.playedSamples -= len(p.played[0].pcm)
	}
}

func (p *player) forget() { p.played, p.playedSamples = nil, 0 }

// frame fills pcm with what is played next and gives what has to be told. sounding is false when nothing was played.
func (p *player) frame(pcm []int16) (tell []sdk.PeerEvent, sounding bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !p.held {
		next := &p.queue[0]
		if next.end {
			if p.response == next.response {
				tell = append(tell, sdk.PlaybackStopped{ResponseID: p.response})
				p.response = ""
				p.forget()
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
			p.item, p.index, p.itemSamples = next.item, next.index, 0
		}
		n := copy(pcm, next.pcm)
		p.keep(sound{response: next.response, item: next.item, index: next.index, from: p.itemSamples, pcm: next.pcm[:n:n]})
		pcm, next.pcm = pcm[n:], next.pcm[n:]
		p.itemSamples += n
		p.queued -= n
		sounding = true
		if len(next.pcm) == 0 {
			p.queue = p.queue[1:]
		}
	}
	clear(pcm)
	return tell, sounding
}
