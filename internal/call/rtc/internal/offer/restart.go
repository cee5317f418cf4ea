package offer

import (
	"fmt"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"
)

// The offer of an ICE restart: checks that it belongs to the call.

// SameCall checks that the offer now is a restart of the call of the offer before: the same sections and certificate, and new
// ICE credentials.
func SameCall(before, now *webrtc.SessionDescription) error {
	was, err := before.Unmarshal()
	if err != nil {
		return fmt.Errorf("rtc: the call's offer: %w", err)
	}
	is, err := now.Unmarshal()
	if err != nil {
		return fmt.Errorf("%w: it cannot be read (%w)", ErrBadSDP, err)
	}
	switch {
	case firstOf(was, "fingerprint") != firstOf(is, "fingerprint"):
		return fmt.Errorf("%w: it is another peer connection's; a restart comes from the one that the call was begun with", ErrBadSDP)
	case len(was.MediaDescriptions) != len(is.MediaDescriptions):
		return fmt.Errorf("%w: it has other sections than the call's; a restart changes nothing but the way", ErrBadSDP)
	case firstOf(is, "ice-ufrag") == "" || firstOf(was, "ice-ufrag") == firstOf(is, "ice-ufrag"):
		return fmt.Errorf("%w: it restarts nothing; make it with createOffer({iceRestart: true})", ErrBadSDP)
	}
	for i, m := range is.MediaDescriptions {
		before, _ := was.MediaDescriptions[i].Attribute("mid")
		if mid, _ := m.Attribute("mid"); mid != before {
			return fmt.Errorf("%w: its section %d has the mid %q, the call's %q", ErrBadSDP, i, mid, before)
		}
	}
	return nil
}

// firstOf returns the value of an attribute of the whole description, or of the first section that has it; "" if there is none.
func firstOf(d *sdp.SessionDescription, key string) string {
	if v, ok := d.Attribute(key); ok {
		return v
	}
	for _, m := range d.MediaDescriptions {
		if v, ok := m.Attribute(key); ok {
			return v
		}
	}
	return ""
}
