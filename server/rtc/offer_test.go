package rtc

import (
	"context"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestBadOffers checks that every broken offer gets an error of the right kind which says what to do, and that none leaves a peer
// behind.
func TestBadOffers(t *testing.T) {
	good := newClient(t, clientOptions{}).offer(t)
	replace := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the offer has no %q:\n%s", old, good)
		}
		return strings.ReplaceAll(good, old, with)
	}
	audio := good[strings.Index(good, "m=audio"):strings.Index(good, "m=application")]
	e := newTestEngine(t, Config{})
	for _, row := range []struct {
		name  string
		offer string
		want  error
		says  string
	}{
		{"empty", "", ErrBadSDP, "RTCSessionDescription.sdp"},
		{"blank", " \r\n", ErrBadSDP, "RTCSessionDescription.sdp"},
		{"JSON", `{"type":"offer","sdp":"v=0"}`, ErrBadSDP, "member sdp"},
		{"prose", "hello", ErrBadSDP, "unchanged"},
		{"cut off", good[:strings.Index(good, "m=audio")+12], ErrBadSDP, "unchanged"},
		{"only the session part", good[:strings.Index(good, "m=")], ErrNoAudio, "microphone"},
		{"huge", good + strings.Repeat("a=x\r\n", maxOffer/5), ErrBadSDP, "bytes"},
		{"no audio section", strings.Replace(good, audio, "", 1), ErrNoAudio, "microphone"},
		{"audio refused by its own offer", replace("m=audio 9", "m=audio 0"), ErrNoAudio, "microphone"},
		{"two audio sections", replace(audio, audio+audio), ErrBadSDP, "2 audio sections"},
		{"no Opus", replace("opus/48000/2", "speex/48000/2"), ErrNoAudio, "opus/48000/2"},
		{"inactive", replace("a=sendrecv", "a=inactive"), ErrNoAudio, "sendrecv"},
		{"no fingerprint", dropLines(good, "a=fingerprint"), ErrBadSDP, ""},
		{"no ICE name", dropLines(good, "a=ice-ufrag"), ErrBadSDP, ""},
		{"no ICE password", dropLines(good, "a=ice-pwd"), ErrBadSDP, ""},
		{"no mid", dropLines(good, "a=mid"), ErrBadSDP, ""},
		{"too many candidates", strings.Replace(good, "a=candidate",
			strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", maxCandidates)+"a=candidate", 1), ErrBadSDP, "candidates"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, answer, err := e.Answer(context.Background(), row.offer, &recorder{})
			g.Expect(err).To(gomega.MatchError(row.want))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
			g.Expect(p).To(gomega.BeNil())
			g.Expect(answer).To(gomega.BeEmpty())
			g.Expect(len(e.peers)).To(gomega.BeZero())
		})
	}
}

func dropLines(sdp, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(sdp) {
		if !strings.HasPrefix(line, prefix) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestOfferSaysWhatTheClientTakes(t *testing.T) {
	good := newClient(t, clientOptions{}).offer(t)
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
			o, err := readOffer(dropLines(good, "a=max-message-size") + row.line)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(o.maxMessage).To(gomega.Equal(row.want))
			g.Expect(o.events).To(gomega.BeTrue())
		})
	}
}

func FuzzReadOffer(f *testing.F) {
	f.Add(newClient(f, clientOptions{}).offer(f))
	f.Add("v=0\r\nm=audio 9 UDP 111\r\na=rtpmap:111 opus/48000/2\r\n")
	f.Fuzz(func(_ *testing.T, sdp string) { _, _ = readOffer(sdp) })
}
