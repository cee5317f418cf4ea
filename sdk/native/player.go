//go:build !js

package native

// The playback of sound that comes in messages, in real time.

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

// player plays the responses of a call over a WebSocket, one frame at a time. Safe for concurrent use.
type player struct {
	mu sync.Mutex
	playerState
}

// playerState is the sound that a player has to play, and how far it has come.
type playerState struct {
	queue  []sound
	queued int // how many samples are in queue. Invariant: at most MaxQueued of sound.

	response        string // the response that is being played; "" for none
	item            string
	index           int
	itemSamples     int    // how many samples of item were played
	lastResponse    string // the last response that sound came for
	stoppedResponse string // the response that was stopped: its later sound is not played

	held          bool
	played        []sound // the last keepPlayed samples of response, oldest first
	playedSamples int     // samples in played
}

// keepPlayed is how far a player can rewind, in samples: 6 s.
const keepPlayed = 6 * Rate

// sound is a stretch of sound of one content part, or the end of a response.
type sound struct {
	response, item string
	index          int
	from           int // for played sound: the position of its first sample in the item, in samples
	pcm            []int16
	end            bool
}

// play queues sound. It returns false when more sound would wait than MaxQueued.
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

// finish marks the end of a response.
func (p *player) finish(response string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if response != p.stoppedResponse {
		p.queue = append(p.queue, sound{response: response, end: true})
	}
}

// stop discards the sound that was not played. It returns the position that was being played, and whether a response was.
func (p *player) stop() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.where()
	playing := p.response != ""
	if playing || len(p.queue) > 0 {
		p.stoppedResponse = p.lastResponse
	}
	p.queue, p.queued, p.response, p.item, p.itemSamples, p.held = nil, 0, "", "", 0, false
	p.played, p.playedSamples = nil, 0
	return was, playing
}

// position returns the end of the sound that the loudspeaker has got. ok is false when no response is being played.
func (p *player) position() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.where(), p.response != ""
}

// where returns the present position.
func (p *player) where() sdk.PlayedPosition {
	ms := int(time.Duration(p.itemSamples) * time.Second / Rate / time.Millisecond)
	return sdk.PlayedPosition{ItemID: p.item, ContentIndex: p.index, MS: ms}
}

// hold stops the playback of a response.
func (p *player) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = p.response != ""
}

// resume rewinds to a position, if the sound from there is kept, and plays on.
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

// keep keeps played sound for a rewind.
func (p *player) keep(s sound) {
	p.played = append(p.played, s)
	for p.playedSamples += len(s.pcm); p.playedSamples > keepPlayed; p.played = p.played[1:] {
		p.playedSamples -= len(p.played[0].pcm)
	}
}

// frame fills pcm with the next sound. It returns the events to report, and whether anything was played.
func (p *player) frame(pcm []int16) (tell []sdk.PeerEvent, sounding bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !p.held {
		next := &p.queue[0]
		if next.end {
			if p.response == next.response {
				tell = append(tell, sdk.PlaybackStopped{ResponseID: p.response})
				p.response = ""
				p.played, p.playedSamples = nil, 0
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
