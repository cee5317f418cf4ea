package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The keys that this server presses: telephone events of RFC 4733.

// MaxKeys is how many keys of a call may wait to be sent.
const MaxKeys = 32

const (
	// keyFrames is how many packets of 20 ms a key has, so it takes 100 ms; keyEnds is how often its end is sent; keyPause is for how many frames nothing is pressed after it.
	// RFC 4733 section 2.5.1.4 wants the end three times. ITU-T Q.24 wants 40 ms of a key and of a pause, and many menus want more.
	keyFrames, keyEnds, keyPause = 5, 3, 5
	// keyVolume is how loud a gateway makes the tone: -10 dBm0. keyEnd marks an end.
	keyVolume, keyEnd = 10, 0x80
)

// ErrNoKeys says that the far end takes no keys.
var ErrNoKeys = errors.New("the telephone takes no keys: its SDP has no telephone-event with the clock of its codec (48000 for Opus, else 8000)")

// Press has the keys of a text sent, one after the other, when the agent is silent: 0 to 9, *, # and A to D. It does not wait for them. Errors: ErrNoKeys, too many keys, or no key.
func (s *Stream) Press(keys string) error {
	for _, k := range keys {
		if !strings.ContainsRune(digits, k) {
			return fmt.Errorf("%q is no key: want 0 to 9, *, # and A to D", k)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.far == nil || s.far.events == 0:
		return ErrNoKeys
	case len(s.out.keys.waiting)+len(keys) > MaxKeys:
		return fmt.Errorf("%d keys are too many at a time: at most %d wait", len(s.out.keys.waiting)+len(keys), MaxKeys)
	}
	s.out.keys.waiting += keys
	return nil
}

// pressing is the state of the keys that are sent. The first one that waits is the present one.
type pressing struct {
	waiting string
	sent    int    // frames of the present key
	at      uint32 // the RTP timestamp at which it began
}

// next returns the payload of the packet in place of the audio of a frame that begins at a timestamp, and whether the key begins with it; nil for audio. A key begins only in
// silence.
func (p *pressing) next(at, ticks uint32, voiced bool) (payload []byte, begins bool) {
	if p.waiting == "" || p.sent == 0 && voiced {
		return nil, false
	}
	n := p.sent
	if p.sent++; n >= keyFrames+keyEnds {
		if p.sent == keyFrames+keyEnds+keyPause {
			p.waiting, p.sent = p.waiting[1:], 0
		}
		return nil, false
	}
	if n == 0 {
		p.at = at
	}
	flags := byte(keyVolume)
	if n >= keyFrames {
		flags |= keyEnd
	}
	payload = []byte{byte(strings.IndexByte(digits, p.waiting[0])), flags, 0, 0}
	binary.BigEndian.PutUint16(payload[2:], uint16(ticks*uint32(min(n+1, keyFrames))))
	return payload, n == 0
}
