package audio

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pion/rtp"
)

// A telephone gets each key once, in order, with every codec, with and without encryption.
func TestKeysArePressed(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for name, pick := range map[string]string{"Opus": "96 102", "G.722": "9 101", "mu-law": "0 101"} {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				a, b := open(t, Config{Secure: secure}), open(t, Config{})
				answer, err := b.Answer([]byte(strings.Replace(string(a.Offer()), " 96 9 0 8 102 101\r\n", " "+pick+"\r\n", 1)))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(a.Answered(answer)).To(Succeed())
				h := newHeard()
				b.Listen(h)
				g.Expect(a.Press("5")).To(Succeed())
				g.Expect(a.Press("5#D")).To(Succeed())
				for i := range 5 * (keyFrames + keyEnds + keyPause) {
					g.Expect(a.Send(make([]int16, Rate/50), false)).To(Succeed(), i)
				}
				for _, want := range "55#D" {
					g.Eventually(h.digits).Should(Receive(Equal(byte(want))))
				}
				g.Expect(h.digits).To(BeEmpty())
			})
		}
	}
}

// The packets of a key have the form of RFC 4733: the timestamp of its begin, a duration that grows, and the end three times. A key waits for the end of the agent's speech.
func TestPacketsOfAKey(t *testing.T) {
	g := NewWithT(t)
	s, f := open(t, Config{}), newFar(t, "127.0.0.1:0")
	_, err := s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Press("9")).To(Succeed())
	packet := func(voiced bool) (p rtp.Packet) {
		g.Expect(s.Send(tone(0), voiced)).To(Succeed())
		buf := make([]byte, maxPacket)
		n, err := f.conn.Read(buf)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.Unmarshal(buf[:n])).To(Succeed())
		return p
	}
	before := packet(true)
	g.Expect(before.PayloadType).To(BeZero())
	for i := range keyFrames + keyEnds {
		p := packet(i > 0) // what the agent begins to say meanwhile is not sent
		g.Expect(p.PayloadType).To(BeEquivalentTo(101))
		g.Expect(p.Timestamp).To(Equal(before.Timestamp + 160))
		g.Expect(p.SequenceNumber).To(Equal(before.SequenceNumber + 1 + uint16(i)))
		g.Expect(p.Marker).To(Equal(i == 0))
		g.Expect(p.Payload[0]).To(BeEquivalentTo(9))
		g.Expect(p.Payload[1]&keyEnd != 0).To(Equal(i >= keyFrames))
		g.Expect(binary.BigEndian.Uint16(p.Payload[2:])).To(BeEquivalentTo(160 * min(i+1, keyFrames)))
	}
	after := packet(true)
	g.Expect(after.PayloadType).To(BeZero())
	g.Expect(after.Timestamp).To(BeEquivalentTo(before.Timestamp + 160*(keyFrames+keyEnds+1)))
}

func TestKeysThatCannotBePressed(t *testing.T) {
	g := NewWithT(t)
	s, f := open(t, Config{}), newFar(t, "127.0.0.1:0")
	g.Expect(s.Press("1")).To(MatchError(ErrNoKeys), "nothing is agreed yet")
	_, err := s.Answer([]byte(strings.NewReplacer(" 101\r", "\r", "a=rtpmap:101 telephone-event/8000\r\n", "").Replace(string(f.offer()))))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Press("1")).To(MatchError(ErrNoKeys))
	_, err = s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Press("1x")).To(MatchError(ContainSubstring("no key")))
	g.Expect(s.Press(strings.Repeat("1", MaxKeys))).To(Succeed())
	g.Expect(s.Press("1")).To(MatchError(ContainSubstring("at most 32")))
}
