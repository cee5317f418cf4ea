package offer

import (
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// The bundle of an answer: the sections that share one transport.

// groupOf returns the mids of the bundle of a description, or nil.
func groupOf(d *sdp.SessionDescription) []string {
	for _, a := range d.Attributes {
		if kind, mids, _ := strings.Cut(a.Value, " "); a.Key == sdp.AttrKeyGroup && kind == "BUNDLE" {
			return strings.Fields(mids)
		}
	}
	return nil
}

// setGroup writes the mids of the bundle.
func setGroup(d *sdp.SessionDescription, mids []string) {
	value := "BUNDLE " + strings.Join(mids, " ")
	for i, a := range d.Attributes {
		if a.Key == sdp.AttrKeyGroup && strings.HasPrefix(a.Value, "BUNDLE") {
			d.Attributes[i].Value = value
			return
		}
	}
	d.WithValueAttribute(sdp.AttrKeyGroup, value)
}

// keepTagged accepts, as inactive, the section whose mid is the first of the offer's bundle, if the answer rejects it and accepts others of
// the bundle. The transport of the bundle is that of this section, so an answer must not reject it alone (RFC 9143 section 7.3.3). Chromium
// with the policy max-bundle cannot apply such an answer. No media flow in the section.
func keepTagged(answer, offered *sdp.SessionDescription) {
	group, mids := groupOf(offered), groupOf(answer)
	if len(group) == 0 || len(mids) == 0 || len(answer.MediaDescriptions) != len(offered.MediaDescriptions) {
		return
	}
	at := slices.IndexFunc(offered.MediaDescriptions, func(m *sdp.MediaDescription) bool { return midOf(m) == group[0] })
	with := slices.IndexFunc(answer.MediaDescriptions, func(m *sdp.MediaDescription) bool { return inUse(m) && slices.Contains(mids, midOf(m)) })
	if at < 0 || with < 0 || inUse(answer.MediaDescriptions[at]) {
		return
	}
	tagged, accepted, wanted := answer.MediaDescriptions[at], answer.MediaDescriptions[with], offered.MediaDescriptions[at]
	if !inUse(wanted) || !has(wanted, "rtpmap") || len(wanted.MediaName.Formats) == 0 {
		return // the client has rejected it itself, or it is no section of audio or video
	}
	format := wanted.MediaName.Formats[0]
	tagged.MediaName.Port.Value, tagged.MediaName.Formats = accepted.MediaName.Port.Value, []string{format}
	tagged.ConnectionInformation = accepted.ConnectionInformation
	tagged.Attributes = slices.DeleteFunc(tagged.Attributes, func(a sdp.Attribute) bool {
		return !a.IsICECandidate() && a.Key != sdp.AttrKeyEndOfCandidates
	})
	tagged.WithValueAttribute(sdp.AttrKeyMID, group[0]).WithPropertyAttribute(sdp.AttrKeyInactive).WithPropertyAttribute(sdp.AttrKeyRTCPMux)
	for _, a := range wanted.Attributes {
		if (a.Key == "rtpmap" || a.Key == "fmtp") && strings.HasPrefix(a.Value, format+" ") {
			tagged.Attributes = append(tagged.Attributes, a)
		}
	}
	for _, a := range accepted.Attributes {
		if slices.Contains([]string{"ice-ufrag", "ice-pwd", "ice-options", "fingerprint", "setup"}, a.Key) {
			tagged.Attributes = append(tagged.Attributes, a)
		}
	}
	setGroup(answer, append(group[:1:1], mids...))
}

// midOf returns the mid of a section.
func midOf(m *sdp.MediaDescription) string {
	mid, _ := m.Attribute(sdp.AttrKeyMID)
	return mid
}
