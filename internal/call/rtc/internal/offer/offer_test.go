package offer

// What the server reads in an SDP offer, and writes into the answer.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

const (
	header = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n"
	common = "c=IN IP4 0.0.0.0\r\na=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=setup:actpass\r\na=fingerprint:sha-256 " +
		"AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB\r\n"
	audio = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" + common + "a=mid:0\r\na=sendrecv\r\na=rtcp-mux\r\na=rtpmap:111 opus/48000/2\r\n"
	data  = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n" + common + "a=mid:1\r\na=sctp-port:5000\r\n"
	good  = header + audio + data
)

func TestOfferSaysWhatTheClientTakes(t *testing.T) {
	for _, row := range []struct {
		name string
		line string
		want int
	}{
		{"Chromium", "a=max-message-size:262144\r\n", 262_144},
		{"Firefox", "a=max-message-size:1073741823\r\n", 1_073_741_823},
		{"unsaid", "", defaultMessage},
		{"unlimited", "a=max-message-size:0\r\n", defaultMessage},
		{"nonsense", "a=max-message-size:many\r\n", defaultMessage},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o, err := Read(good+row.line, Remotes{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(o.MaxMessage).To(gomega.Equal(row.want))
			g.Expect(o.Events).To(gomega.BeTrue())
		})
	}
}

// TestPortZeroMayBeInUse checks that a section with port 0 counts as refused unless it is part of a bundle only.
func TestPortZeroMayBeInUse(t *testing.T) {
	refused := strings.Replace(data, "application 9", "application 0", 1)
	for _, row := range []struct {
		name   string
		data   string
		events bool
	}{
		{"refused", refused, false},
		{"bundle-only", refused + "a=bundle-only\r\n", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o, err := Read(header+audio+row.data, Remotes{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(o.Events).To(gomega.Equal(row.events))
		})
	}
}

// TestCandidatesThatAreChecked checks which of a client's addresses the server sends connectivity checks to.
func TestCandidatesThatAreChecked(t *testing.T) {
	for _, row := range []struct {
		address string
		in      Remotes
		kept    bool
	}{
		{"203.0.113.7", Remotes{}, true},
		{"2001:db8::7", Remotes{}, true},
		{"127.0.0.1", Remotes{}, false},
		{"127.0.0.1", Remotes{Private: true}, false},
		{"127.0.0.1", Remotes{Loopback: true}, true},
		{"::1", Remotes{}, false},
		{"::ffff:127.0.0.1", Remotes{}, false},
		{"10.255.254.253", Remotes{}, false},
		{"10.255.254.253", Remotes{Private: true}, true},
		{"192.168.254.253", Remotes{}, false},
		{"100.64.0.1", Remotes{}, false},
		{"fd12:3456::1", Remotes{}, false},
		{"169.254.169.254", Remotes{}, false},
		{"169.254.169.254", Remotes{Loopback: true}, false},
		{"fe80::1", Remotes{}, false},
		{"224.0.0.1", Remotes{Private: true, Loopback: true}, false},
		{"ff02::1", Remotes{Private: true, Loopback: true}, false},
		{"255.255.255.255", Remotes{Private: true, Loopback: true}, false},
		{"0.0.0.0", Remotes{Private: true, Loopback: true}, false},
		{"internal.example", Remotes{Private: true, Loopback: true}, false},
		{"8c1f2b7e-1111-4222-8333-444455556666.local", Remotes{Private: true, Loopback: true}, false},
	} {
		t.Run(fmt.Sprintf("%s, %+v", row.address, row.in), func(t *testing.T) {
			g := gomega.NewWithT(t)
			o, err := Read(header+audio+fmt.Sprintf("a=candidate:1 1 udp 100 %s 9 typ host\r\n", row.address)+data, row.in)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(strings.Contains(o.Desc.SDP, " "+row.address+" 9 typ")).To(gomega.Equal(row.kept), o.Desc.SDP)
			g.Expect(o.Removed).To(gomega.Equal(map[bool]int{false: 1, true: 0}[row.kept]))
		})
	}
}

// TestTheBestCandidatesAreChecked checks that of many addresses the dozen with the highest priorities stays, and none over TCP.
func TestTheBestCandidatesAreChecked(t *testing.T) {
	g := gomega.NewWithT(t)
	var many strings.Builder
	for i := range maxCandidates - 1 {
		fmt.Fprintf(&many, "a=candidate:%d 1 udp %d 203.0.113.%d 9 typ host\r\n", i+1, i+1, i+1)
	}
	many.WriteString("a=candidate:1 1 tcp 1000 203.0.113.200 9 typ host tcptype passive\r\n")
	o, err := Read(header+audio+many.String()+data, Remotes{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(strings.Count(o.Desc.SDP, "a=candidate")).To(gomega.Equal(maxChecked))
	for i := maxCandidates - 1; i > maxCandidates-1-maxChecked; i-- {
		g.Expect(o.Desc.SDP).To(gomega.ContainSubstring(fmt.Sprintf(" 203.0.113.%d 9 ", i)))
	}
}

// TestCompleteMovesTheAddresses checks that the server's addresses stand in the first section that the answer accepts.
func TestCompleteMovesTheAddresses(t *testing.T) {
	g := gomega.NewWithT(t)
	address := "a=candidate:1 1 udp 100 203.0.113.7 9 typ host\r\na=end-of-candidates\r\n"
	rejected := header + "m=video 0 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\n"
	answer, err := Complete(rejected+address+audio+data, rejected+audio+data)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	section := func(kind string) string {
		_, from, _ := strings.Cut(answer, "m="+kind)
		text, _, _ := strings.Cut(from, "m=")
		return text
	}
	g.Expect(section("video")).NotTo(gomega.ContainSubstring("candidate"))
	g.Expect(section("audio")).To(gomega.ContainSubstring(address))
	g.Expect(section("audio")).To(gomega.ContainSubstring("a=fmtp:111 " + OpusFormat))
	g.Expect(section("application")).NotTo(gomega.ContainSubstring("candidate"))
}

// TestCompleteKeepsTheSectionOfTheBundle checks that the answer accepts the section whose transport the bundle uses, as inactive, and rejects
// it where the client has rejected it or nothing else is in the bundle.
func TestCompleteKeepsTheSectionOfTheBundle(t *testing.T) {
	const (
		address  = "a=candidate:1 1 udp 100 203.0.113.7 9 typ host\r\n"
		video    = "m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\n" + common + "a=mid:v\r\na=recvonly\r\na=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n"
		rejected = "m=video 0 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\n" + address
	)
	offered := strings.Replace(header, "BUNDLE 0 1", "BUNDLE v 0 1", 1)
	for _, row := range []struct {
		name, offer, answer string
		kept                bool
	}{
		{"the first of the bundle", offered + video + audio + data, header + rejected + audio + data, true},
		{"another one of the bundle", strings.Replace(header, "BUNDLE 0 1", "BUNDLE 0 1 v", 1) + video + audio + data, header + rejected + audio + data, false},
		{"outside of the bundle", header + video + audio + data, header + rejected + audio + data, false},
		{"rejected by the client", offered + strings.Replace(video, "video 9", "video 0", 1) + audio + data, header + rejected + audio + data, false},
		{"without a bundle", strings.Replace(header, "a=group:BUNDLE 0 1\r\n", "", 1) + video + audio + data, header + rejected + audio + data, false},
		{"nothing else is in the bundle", offered + video + audio + data, strings.Replace(header, "BUNDLE 0 1", "BUNDLE", 1) + rejected + audio + data, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			answer, err := Complete(row.answer, row.offer)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, from, _ := strings.Cut(answer, "m=video ")
			section, _, _ := strings.Cut(from, "m=audio")
			if !row.kept {
				g.Expect(section).To(gomega.HavePrefix("0 "))
				g.Expect(answer).NotTo(gomega.ContainSubstring("BUNDLE v"))
				return
			}
			g.Expect(section).To(gomega.HavePrefix("9 UDP/TLS/RTP/SAVPF 96\r\n"))
			for _, line := range []string{"a=mid:v", "a=inactive", "a=rtcp-mux", "a=rtpmap:96 VP8/90000", "a=ice-ufrag:abcd", "a=setup:actpass", "a=fingerprint:sha-256 AB", address} {
				g.Expect(section).To(gomega.ContainSubstring(line))
			}
			g.Expect(section).NotTo(gomega.ContainSubstring("97"))
			g.Expect(answer).To(gomega.ContainSubstring("a=group:BUNDLE v 0 1\r\n"))
		})
	}
}

func FuzzReadOffer(f *testing.F) {
	f.Add(good)
	f.Add("v=0\r\nm=audio 9 UDP 111\r\na=rtpmap:111 opus/48000/2\r\n")
	f.Fuzz(func(_ *testing.T, sdp string) { _, _ = Read(sdp, Remotes{}) })
}
