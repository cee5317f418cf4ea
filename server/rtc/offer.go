package rtc

import (
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
	// maxCandidates bounds the addresses in an offer, because the server probes each of them. Browsers list a dozen.
	maxCandidates = 100
	// defaultMessage is the size in bytes that a client takes as one message if it does not say (RFC 8841 section 6.1, less one:
	// pion's limit).
	defaultMessage = math.MaxUint16
	// eventsLabel is the label of the protocol's data channel.
	eventsLabel = "oai-events"
)

// offer is the part of an SDP offer that a call uses.
type offer struct {
	desc          webrtc.SessionDescription
	receivesAudio bool // the client receives the agent's audio
	events        bool // the client has a data channel
	maxMessage    int  // the largest message that the client takes, in bytes
}

// readOffer parses and checks an offer. Its errors wrap ErrBadSDP or ErrNoAudio.
func readOffer(text string) (offer, error) {
	o := offer{desc: webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: text}}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		return o, fmt.Errorf("%w: it is empty; send the text of RTCSessionDescription.sdp", ErrBadSDP)
	case len(text) > maxOffer:
		return o, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrBadSDP, len(text), maxOffer)
	case trimmed[0] == '{':
		return o, fmt.Errorf("%w: it is JSON; send the text of its member sdp alone", ErrBadSDP)
	}
	parsed, err := o.desc.Unmarshal()
	if err != nil {
		return o, fmt.Errorf("%w: it cannot be read (%w); send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	if n := candidates(parsed); n > maxCandidates {
		return o, fmt.Errorf("%w: it has %d candidates, at most %d are taken", ErrBadSDP, n, maxCandidates)
	}
	o.receivesAudio, err = readAudio(sections(parsed, "audio"))
	if err != nil {
		return o, err
	}
	for _, m := range sections(parsed, "application") {
		o.events, o.maxMessage = true, messageLimit(m)
	}
	return o, nil
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

// sections returns the sections of a kind, without those that are refused (port 0).
func sections(d *sdp.SessionDescription, kind string) (found []*sdp.MediaDescription) {
	for _, m := range d.MediaDescriptions {
		if m.MediaName.Media == kind && m.MediaName.Port.Value != 0 {
			found = append(found, m)
		}
	}
	return found
}

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

// withFormat returns the answer with opusFormat as the Opus parameters. pion repeats the parameters of the offer, but those of an
// answer tell the client what to send (RFC 7587 section 7).
func withFormat(answer string) (string, error) {
	var d sdp.SessionDescription
	if err := d.UnmarshalString(answer); err != nil {
		return "", fmt.Errorf("rtc: own answer: %w", err)
	}
	for _, m := range sections(&d, "audio") {
		number := opusType(m)
		value := number + " " + opusFormat
		i := slices.IndexFunc(m.Attributes, func(a sdp.Attribute) bool {
			return a.Key == "fmtp" && strings.HasPrefix(a.Value, number+" ")
		})
		if i >= 0 {
			m.Attributes[i].Value = value
		} else {
			m.WithValueAttribute("fmtp", value)
		}
	}
	text, err := d.Marshal()
	if err != nil {
		return "", fmt.Errorf("rtc: own answer: %w", err)
	}
	return string(text), nil
}
