package offer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"
)

// SDP offers and answers: checks what a client offers, and completes the answer.

const (
	// maxOffer bounds an offer's size in bytes; browsers make 2 to 8 kB.
	maxOffer = 64 << 10
	// maxCandidates bounds the addresses in an offer. Browsers list a dozen. The server checks at most maxChecked of them.
	maxCandidates = 100
	// defaultMessage is the size in bytes that a client takes as one message if it does not say (RFC 8841 section 6.1, less one:
	// pion's limit).
	defaultMessage = math.MaxUint16
)

// Errors of Read and SameCall. They come wrapped, with text that tells the caller what to change.
var (
	// ErrBadSDP means that the offer cannot be read, or asks for what a call cannot be.
	ErrBadSDP = errors.New("bad SDP offer")
	// ErrNoAudio means that the offer has no audio section with Opus that could be answered.
	ErrNoAudio = errors.New("no audio in the SDP offer")
)

// Offer is the part of an SDP offer that a call uses.
type Offer struct {
	Desc          webrtc.SessionDescription // for pion: without some of the client's addresses, and without its SSRCs
	ReceivesAudio bool                      // the client receives the agent's audio
	Events        bool                      // the client has a data channel
	MaxMessage    int                       // the largest message that the client takes, in bytes
	Removed       int                       // how many of the client's addresses were removed from Desc
	Firefox       bool                      // the client is Firefox, which never connects to a loopback address
}

// Read parses and checks an offer, and removes the client's addresses that the server does not check. Its errors wrap ErrBadSDP or
// ErrNoAudio.
func Read(text string, remotes Remotes) (Offer, error) {
	o := Offer{Desc: webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: text}}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		return o, fmt.Errorf("%w: it is empty; send the text of RTCSessionDescription.sdp", ErrBadSDP)
	case len(text) > maxOffer:
		return o, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrBadSDP, len(text), maxOffer)
	case trimmed[0] == '{':
		return o, fmt.Errorf("%w: it is JSON; send the text of its member sdp alone", ErrBadSDP)
	}
	parsed, err := o.Desc.Unmarshal()
	if err != nil {
		return o, fmt.Errorf("%w: it cannot be read (%w); send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	if n := candidates(parsed); n > maxCandidates {
		return o, fmt.Errorf("%w: it has %d candidates, at most %d are taken", ErrBadSDP, n, maxCandidates)
	}
	o.ReceivesAudio, err = readAudio(sections(parsed, "audio"))
	if err != nil {
		return o, err
	}
	for _, m := range sections(parsed, "application") {
		o.Events, o.MaxMessage = true, messageLimit(m)
	}
	o.Firefox = strings.HasPrefix(parsed.Origin.Username, "mozilla")
	o.Removed = limitCandidates(parsed, remotes)
	removeStreams(parsed)
	text, err = marshal(parsed)
	if err != nil {
		return o, fmt.Errorf("%w: it cannot be read (%w); send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	o.Desc = webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: text}
	return o, nil
}

// removeStreams removes the client's announcement of its streams (SSRCs). pion hears no stream that was not announced if there is any
// announcement, so a client that changes its SSRC during the call would not be heard any more.
func removeStreams(d *sdp.SessionDescription) {
	for _, m := range d.MediaDescriptions {
		m.Attributes = slices.DeleteFunc(m.Attributes, func(a sdp.Attribute) bool {
			return a.Key == sdp.AttrKeySSRC || a.Key == sdp.AttrKeySSRCGroup
		})
	}
}

func marshal(d *sdp.SessionDescription) (string, error) {
	text, err := d.Marshal()
	return string(text), err
}

// readAudio checks the offer's audio sections and reports whether the client receives the agent's audio.
func readAudio(audio []*sdp.MediaDescription) (receives bool, err error) {
	switch {
	case len(audio) == 0:
		return false, fmt.Errorf("%w: add a microphone track, or an audio transceiver, before createOffer", ErrNoAudio)
	case len(audio) > 1:
		return false, fmt.Errorf("%w: it has %d audio sections; a call has one", ErrBadSDP, len(audio))
	case opusType(audio[0]) == "":
		return false, fmt.Errorf("%w: its audio section lacks the codec opus/48000/2; do not filter it out", ErrNoAudio)
	case has(audio[0], "inactive"):
		return false, fmt.Errorf("%w: its audio section is inactive; offer sendrecv", ErrNoAudio)
	}
	return !has(audio[0], "sendonly"), nil
}

// sections returns the sections of a kind that are in use.
func sections(d *sdp.SessionDescription, kind string) (found []*sdp.MediaDescription) {
	for _, m := range d.MediaDescriptions {
		if m.MediaName.Media == kind && inUse(m) {
			found = append(found, m)
		}
	}
	return found
}

// inUse reports whether a section is in use. Port 0 means that it is not, except in a section that exists only inside of a bundle
// (RFC 9143 section 6). Firefox offers such sections with the policy max-bundle.
func inUse(m *sdp.MediaDescription) bool { return m.MediaName.Port.Value != 0 || has(m, "bundle-only") }

// candidates counts the ICE candidates of all sections.
func candidates(d *sdp.SessionDescription) (n int) {
	for _, m := range d.MediaDescriptions {
		for _, a := range m.Attributes {
			if a.Key == "candidate" {
				n++
			}
		}
	}
	return n
}

func has(m *sdp.MediaDescription, key string) bool {
	_, ok := m.Attribute(key)
	return ok
}

// opusType returns the payload type that a section gives to Opus, or "". A payload type that the section maps and does not list
// among its formats does not count.
func opusType(m *sdp.MediaDescription) string {
	for _, a := range m.Attributes {
		number, codec, _ := strings.Cut(a.Value, " ")
		if a.Key == "rtpmap" && strings.EqualFold(codec, "opus/48000/2") && slices.Contains(m.MediaName.Formats, number) {
			return number
		}
	}
	return ""
}

// messageLimit returns the size in bytes of the largest message that a data section takes. "No limit" (0) and an unreadable
// limit fall back to the default, as they do in pion.
func messageLimit(m *sdp.MediaDescription) int {
	v, _ := m.Attribute("max-message-size")
	if n, err := strconv.ParseUint(v, 10, 32); err == nil && n > 0 {
		return int(min(n, math.MaxInt32))
	}
	return defaultMessage
}
