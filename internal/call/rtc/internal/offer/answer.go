package offer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// The answer to an offer: completes what pion has made.

// OpusFormat holds the format parameters of answers: the client sends redundancy against loss, and no packets while its user is
// silent.
const OpusFormat = "minptime=10;useinbandfec=1;usedtx=1"

// Complete returns pion's answer to an offer with OpusFormat as the Opus parameters, with a bundle that the client can use, and with the
// server's addresses in the first section that the answer accepts.
func Complete(answer, to string) (string, error) {
	var d, offered sdp.SessionDescription
	if err := d.UnmarshalString(answer); err != nil {
		return "", fmt.Errorf("rtc: own answer: %w", err)
	}
	if err := offered.UnmarshalString(to); err != nil {
		return "", fmt.Errorf("rtc: the client's offer: %w", err)
	}
	keepTagged(&d, &offered)
	for _, m := range sections(&d, "audio") {
		setFormat(m)
	}
	moveCandidates(&d)
	text, err := marshal(&d)
	if err != nil {
		return "", fmt.Errorf("rtc: own answer: %w", err)
	}
	return text, nil
}

// setFormat replaces the Opus parameters of a section. pion repeats the parameters of the offer, but those of an answer tell the client
// what to send (RFC 7587 section 7).
func setFormat(m *sdp.MediaDescription) {
	number := opusType(m)
	value := number + " " + OpusFormat
	i := slices.IndexFunc(m.Attributes, func(a sdp.Attribute) bool {
		return a.Key == "fmtp" && strings.HasPrefix(a.Value, number+" ")
	})
	if i >= 0 {
		m.Attributes[i].Value = value
	} else {
		m.WithValueAttribute("fmtp", value)
	}
}

// moveCandidates moves the server's addresses from a rejected section to the first accepted one. pion puts them into the first section,
// also into a rejected one, where no client reads them.
func moveCandidates(d *sdp.SessionDescription) {
	accepted := slices.IndexFunc(d.MediaDescriptions, inUse)
	if accepted <= 0 {
		return
	}
	to := d.MediaDescriptions[accepted]
	for _, m := range d.MediaDescriptions[:accepted] {
		m.Attributes = slices.DeleteFunc(m.Attributes, func(a sdp.Attribute) bool {
			moves := a.IsICECandidate() || a.Key == sdp.AttrKeyEndOfCandidates
			if moves {
				to.Attributes = append(to.Attributes, a)
			}
			return moves
		})
	}
}
