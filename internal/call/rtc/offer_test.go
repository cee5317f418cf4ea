package rtc

// Offers through the whole engine: bad ones and unusual ones.

import (
	"context"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/pion/webrtc/v4"
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
		{"huge", good + strings.Repeat("a=x\r\n", 64<<10/5), ErrBadSDP, "bytes"},
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
			strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", 100)+"a=candidate", 1), ErrBadSDP, "candidates"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, answer, err := e.Answer(context.Background(), row.offer, nil, &recorder{})
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

// TestOfferWithVideoFirst checks that a call connects whose offer has a video section before that of the audio: the answer rejects the
// video, and the server's addresses stand in a section that the client reads.
func TestOfferWithVideoFirst(t *testing.T) {
	for _, policy := range []webrtc.BundlePolicy{webrtc.BundlePolicyBalanced, webrtc.BundlePolicyMaxBundle} {
		t.Run(policy.String(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{video: true, bundle: policy, offer: func(sdp string) string {
				return dropLines(sdp, "a=candidate") // otherwise the server would find the client by itself
			}})
			connected(g, r)
			g.Expect(p.Send(event([]byte("hello")), nil)).To(gomega.Succeed())
			g.Eventually(c.got, soon).Should(gomega.Equal([]string{"hello"}))
			c.say(t, code(t, newTestEncoder(t), tone(440, 10*FrameSize)))
			g.Eventually(func() uint64 { return p.Stats().PacketsReceived }, soon).Should(gomega.Equal(uint64(10)))
		})
	}
}

// TestMaxBundleOfFirefox checks that events flow in a call whose offer has the data section inside of the bundle only, with port 0, as
// Firefox offers it with the policy max-bundle.
func TestMaxBundleOfFirefox(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{offer: func(sdp string) string {
		with := strings.Replace(sdp, "m=application 9 ", "m=application 0 ", 1) + "a=bundle-only\r\n"
		g.Expect(with).To(gomega.ContainSubstring("m=application 0 "))
		return with
	}})
	connected(g, r)
	g.Expect(p.Send(event([]byte("hello")), nil)).To(gomega.Succeed())
	g.Eventually(c.got, soon).Should(gomega.Equal([]string{"hello"}))
}
