package audio

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const head = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\n"

func TestWhatIsRead(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"G.711":               {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", ""},
		"the second line":     {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=video 3 RTP/AVP 96\r\nm=audio 4000 RTP/AVP 8\r\n", ""},
		"IPv6":                {head + "c=IN IP6 2001:db8::1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 8\r\n", ""},
		"no address":          {head + "t=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", "no line c="},
		"a name":              {head + "c=IN IP4 example.org\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", "not the IP address"},
		"a group":             {head + "c=IN IP4 224.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", "not the IP address"},
		"everybody":           {head + "c=IN IP4 255.255.255.255\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", "not the IP address"},
		"a rejected line":     {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 0 RTP/AVP 0\r\n", "no audio that this server takes"},
		"a port of nowhere":   {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 70000 RTP/AVP 0\r\n", ""},
		"WebRTC":              {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", "none of RTP/AVP"},
		"encrypted, no key":   {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 9 RTP/SAVP 0\r\n", "no a=crypto"},
		"a key identifier":    {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 9 RTP/SAVP 0\r\na=crypto:1 " + suite + " inline:" + strings.Repeat("A", 40) + "|1:4\r\n", "no a=crypto"},
		"a renamed format":    {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtpmap:0 G729/8000\r\n", "no audio that this server takes"},
		"1000 lines":          {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\n" + strings.Repeat("m=audio 9 RTP/AVP 0\r\n", 400), "more than 16"},
		"too large":           {head + "t=0 0\r\n" + strings.Repeat("a=x\r\n", 5000), "at most"},
		"not SDP":             {"hello", "cannot be read"},
		"nothing":             {"", "no audio"},
		"a line without name": {head + "c=IN IP4 192.0.2.1\r\nt=0 0\r\nm=\r\n", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := read([]byte(c.text))
			switch {
			case name == "a port of nowhere":
				g.Expect(err).To(HaveOccurred())
			case c.wrong == "":
				g.Expect(err).NotTo(HaveOccurred())
			default:
				g.Expect(err).To(MatchError(ContainSubstring(c.wrong)))
			}
		})
	}
}

// Each line of an offer has its line in the answer, in the same order, and all but one are refused.
func TestEachLineIsAnswered(t *testing.T) {
	g := NewWithT(t)
	s := open(t, Config{})
	answer, err := s.Answer([]byte(head + "c=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video 3 RTP/AVP 96 97\r\nm=audio 4000 RTP/AVP 18 8 0 101\r\na=rtpmap:101 telephone-event/8000\r\na=inactive\r\nm=image 5 udptl t38\r\n"))
	g.Expect(err).NotTo(HaveOccurred())
	text := string(answer)
	g.Expect(text).To(MatchRegexp(`(?s)m=video 0 RTP/AVP 96 97\r\nm=audio \d+ RTP/AVP 8 101\r\n.*m=image 0 udptl t38\r\n$`))
	g.Expect(text).To(ContainSubstring("a=inactive"))
}

// FuzzRead reads any description, answers what can be read, and reads its own answer.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + "c=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\na=sendonly\r\n"))
	f.Add([]byte(head + "c=IN IP6 ::1\r\nt=0 0\r\nm=audio 4000 RTP/SAVP 96\r\na=rtpmap:96 opus/48000/2\r\na=crypto:1 " + suite + " inline:" + strings.Repeat("A", 40) + "\r\n"))
	f.Add([]byte("v=0\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := read(text)
		if err != nil {
			return
		}
		l := local{at: d.remote, direction: answered(d.direction), formats: []payload{d.audio}, events: map[uint32]uint8{d.audio.codec.clock: d.events}}
		if d.crypto != nil {
			l.key, l.tag = d.crypto.key, d.crypto.tag
		}
		again, err := read(l.write(d.lines, d.line))
		if err != nil {
			t.Fatalf("our answer cannot be read: %v\n%s", err, l.write(d.lines, d.line))
		}
		if again.audio != d.audio || again.remote != d.remote {
			t.Fatalf("read %v %v, answered %v %v", d.audio, d.remote, again.audio, again.remote)
		}
	})
}

// FuzzPacket gives any bytes to a stream as packets of its far end.
func FuzzPacket(f *testing.F) {
	f.Add([]byte("\x80\x00\x00\x01\x00\x00\x00\xa0\x00\x00\x00\x07" + strings.Repeat("\x10", 160)))
	f.Add([]byte("\x80\x65\x00\x01\x00\x00\x00\xa0\x00\x00\x00\x07\x05\x8a\x00\xa0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := open(t, Config{})
		if _, err := s.Answer([]byte(head + "c=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n")); err != nil {
			t.Fatal(err)
		}
		r := &reader{stream: s, to: newHeard()}
		r.packet(b, s.far.remote, testTime)
	})
}
