package protocolcheck

// The rules for playback: started, stopped, cleared and truncated, and the amount of audio.

import (
	"slices"
	"time"
)

// playback is the state of the client's playback, as far as events show it.
type playback struct {
	isSocket, isRTC bool
	sent            map[string]time.Duration // how much audio came in events, by item
	playing         string                   // the response that is played
	since           time.Time
	ended           map[string]bool // responses whose playback is over
	owed            *response       // an interrupted response whose truncation must come before the next response
	predicted       bool            // the client predicts interruptions, and reports what was heard
	stopped         string          // the newest response, if it was played to its end: its end may be played again
}

// early is how far the audio may be ahead of the clock: a pacer sends more to catch up, and times are rounded.
const early = 100 * time.Millisecond

func (p *playback) socket(s *session) {
	if p.isRTC {
		s.broken("OneTransport", "audio in an event of a WebRTC call")
	}
	p.isSocket = true
}

func (s *session) ofPlayback(e *event) {
	p := &s.playback
	if p.isSocket {
		s.broken("OneTransport", "%s on a WebSocket", e.Type)
	}
	p.isRTC = true
	r := s.responses[e.ResponseID]
	if r == nil {
		s.broken("PlaybackIsClosed", "%s of response %q, which was not created", e.Type, e.ResponseID)
		return
	}
	switch e.Type {
	case "output_audio_buffer.started":
		again := p.stopped == r.id // the client's candidate over the end of the response was rejected, or a cut network had lost the end
		p.stopped = ""
		if p.playing != "" || p.ended[r.id] && !again || !r.hasPart() {
			s.broken("PlaybackIsClosed", "%s of %s: %q is playing, or it has no part, or was played before", e.Type, r.id, p.playing)
		}
		p.playing, p.since, r.started = r.id, e.t, s.line
	case "output_audio_buffer.stopped", "output_audio_buffer.cleared":
		if p.playing != r.id {
			s.broken("PlaybackIsClosed", "%s of %s while %q is playing", e.Type, r.id, p.playing)
		}
		p.playing = ""
		p.ended[r.id] = true
		p.stopped = ""
		if e.Type == "output_audio_buffer.cleared" {
			r.cleared, r.byClient = s.line, s.clears > 0
			s.clears = max(0, s.clears-1)
		} else if p.stopped = r.id; !r.done {
			s.broken("PlaybackIsClosed", "%s of %s before its response.done", e.Type, r.id)
		}
		for _, o := range r.outputs {
			p.sent[o.id] = max(p.sent[o.id], e.t.Sub(p.since)+early)
		}
	}
}

// interrupted checks the end of a response that the user interrupted.
func (s *session) interrupted(r *response, e *event) {
	if e.Response.Details.Reason != "turn_detected" {
		return
	}
	if s.turn.startLine == 0 {
		s.broken("InterruptionOrder", "response %s is interrupted, and nobody spoke", r.id)
	}
	if s.playback.playing == r.id {
		s.broken("InterruptionOrder", "response %s is interrupted before output_audio_buffer.cleared", r.id)
	}
	if r.early > s.turn.startLine {
		s.broken("InterruptionOrder", "response %s is truncated before its response.done", r.id)
	}
	if r.cleared > 0 && !r.byClient {
		if r.cleared < s.turn.startLine {
			s.broken("InterruptionOrder", "output_audio_buffer.cleared of %s comes before speech_started", r.id)
		}
		if r.cut > 0 && r.cut < r.cleared {
			s.broken("InterruptionOrder", "output_audio_buffer.cleared of %s comes after its dones", r.id)
		}
		if !s.playback.predicted { // otherwise the client first reports what was heard
			s.playback.owed = r
		}
	}
}

// truncated checks that an item is cut within the sent audio, and not before its response is done.
func (s *session) truncated(e *event) {
	p := &s.playback
	if !slices.Contains(s.conversation, e.ItemID) {
		s.broken("TruncateWithinSent", "item %q is truncated, and is not in the conversation", e.ItemID)
		return
	}
	cut, mine := s.cuts[e.ItemID]
	mine = mine && cut == e.AudioEndMS || s.clearing
	for _, r := range s.responses {
		o := r.find(e.ItemID)
		if o == nil {
			continue
		}
		o.truncated = o.truncated || !r.done
		r.silenced = r.silenced || s.clearing
		if !r.done && !mine && !(r.silenced && e.AudioEndMS == 0) { // a client may truncate at any time; after a barge-in the server must wait for response.done
			r.early = s.line
		}
		if p.owed == r {
			p.owed = nil
		}
	}
	if mine && !p.isSocket {
		return // the client asked for it, and no event shows how much audio was sent
	}
	at, sent := time.Duration(e.AudioEndMS)*time.Millisecond, p.sent[e.ItemID].Round(time.Microsecond) // the lengths of its pieces are whole nanoseconds
	if at > sent {
		s.broken("TruncateWithinSent", "item %s is cut at %v, and %v were sent", e.ItemID, at, sent)
	}
}
