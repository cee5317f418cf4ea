package audio

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/pion/rtp"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

var here = netip.MustParseAddr("127.0.0.1")

// heard notes what a stream brings.
type heard struct {
	audio  chan []int16
	digits chan byte
	ended  chan error
}

func newHeard() *heard {
	return &heard{audio: make(chan []int16, 4096), digits: make(chan byte, 64), ended: make(chan error, 1)}
}

func (h *heard) Audio(pcm []int16) { h.audio <- append([]int16(nil), pcm...) }
func (h *heard) Missing(int)       {}
func (h *heard) Digit(d byte)      { h.digits <- d }
func (h *heard) Ended(err error)   { h.ended <- err }

func open(t *testing.T, cfg Config) *Stream {
	t.Helper()
	cfg.Bind, cfg.Public, cfg.Signalling = here, here, here
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// tone returns a frame of a tone that goes on from frame to frame, and toneOf one of another frequency.
func tone(frame int) []int16 { return toneOf(440, frame) }

func toneOf(hz float64, frame int) []int16 {
	pcm := make([]int16, Rate/50)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(frame*len(pcm)+i)/Rate))
	}
	return pcm
}

// loudness returns the mean square of audio.
func loudness(pcm []int16) (sum float64) {
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum / float64(len(pcm))
}

// Two streams agree on a codec, and one hears what the other sends.
func TestTwoStreams(t *testing.T) {
	for name, pick := range map[string]string{"Opus": "96", "G.722": "9", "mu-law": "0", "A-law": "8"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			a, b := open(t, Config{}), open(t, Config{})
			offer := string(a.Offer())
			g.Expect(offer).To(ContainSubstring(" RTP/AVP 96 9 0 8 102 101\r\n"))
			offer = strings.Replace(offer, "RTP/AVP 96 9 0 8", "RTP/AVP "+pick, 1)
			answer, err := b.Answer([]byte(offer))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(a.Answered(answer)).To(Succeed())
			h := newHeard()
			b.Listen(h)
			for i := range 25 {
				g.Expect(a.Send(tone(i), true)).To(Succeed())
			}
			var last []int16
			for range 20 {
				g.Eventually(h.audio).Should(Receive(&last))
				g.Expect(last).To(HaveLen(Rate / 50))
			}
			g.Expect(loudness(last)).To(BeNumerically("~", 8000.*8000/2, 8000*8000/10.))
		})
	}
}

// far is a telephone with a socket.
type far struct {
	conn *net.UDPConn
	g    *WithT
	seq  uint16
}

func newFar(t *testing.T, from string) *far {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(from)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &far{conn: conn, g: NewWithT(t)}
}

// offer is the telephone's offer. extra are further lines.
func (f *far) offer(extra ...string) []byte {
	return fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n%s",
		localPort(f.conn), strings.Join(extra, "\r\n"))
}

func (f *far) send(s *Stream, kind uint8, ts uint32, payload []byte) {
	f.seq++
	b, err := (&rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: kind, SequenceNumber: f.seq, Timestamp: ts, SSRC: 7}, Payload: payload}).Marshal()
	f.g.Expect(err).NotTo(HaveOccurred())
	_, err = f.conn.WriteToUDPAddrPort(b, netip.AddrPortFrom(here, localPort(s.conn)))
	f.g.Expect(err).NotTo(HaveOccurred())
}

// speech is a loud frame of mu-law.
func speech() []byte { return []byte(strings.Repeat("\x10\x90", 80)) }

func TestKeysOncePerPress(t *testing.T) {
	g := NewWithT(t)
	s, f, h := open(t, Config{}), newFar(t, "127.0.0.1:0"), newHeard()
	_, err := s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	s.Listen(h)
	key := func(n, flags byte, duration uint16) []byte {
		return binary.BigEndian.AppendUint16([]byte{n, flags}, duration)
	}
	f.send(s, 101, 800, key(5, 10, 160))
	f.send(s, 101, 800, key(5, 10, 320))
	f.send(s, 101, 800, key(5, 0x8a, 480))
	f.send(s, 101, 800, key(5, 0x8a, 480))
	f.send(s, 101, 1600, key(5, 0x8a, 160)) // all of it but the end was lost
	f.send(s, 101, 2400, key(11, 10, 160))
	f.send(s, 101, 3200, key(16, 10, 160)) // flash is no key
	f.send(s, 101, 4000, []byte{1})
	f.send(s, 101, 4800, key(15, 10, 160))
	for _, want := range "55#D" {
		g.Eventually(h.digits).Should(Receive(Equal(byte(want))))
	}
}

// The first packet decides who is heard: nobody else's audio comes through, not even before the telephone's.
func TestStrangersAreNotHeard(t *testing.T) {
	g := NewWithT(t)
	s, f, stranger, h := open(t, Config{}), newFar(t, "127.0.0.1:0"), newFar(t, "127.0.0.2:0"), newHeard()
	_, err := s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	s.Listen(h)
	stranger.send(s, 0, 160, speech())
	f.send(s, 0, 160, speech())
	g.Eventually(h.audio).Should(Receive())
	other := newFar(t, "127.0.0.1:0") // another port of the same machine
	other.send(s, 0, 320, speech())
	f.send(s, 101, 320, []byte{1, 10, 0, 160})
	g.Eventually(h.digits).Should(Receive(), "the packets before this one were read")
	g.Expect(h.audio).To(BeEmpty())
	f.send(s, 0, 480, speech())
	g.Eventually(h.audio).Should(Receive())
}

// A description can name somebody else's address: it gets 5 s of audio in the whole call, and the rest once a packet has come from there.
func TestAddressThatSendsNothing(t *testing.T) {
	g := NewWithT(t)
	s, f, h := open(t, Config{}), newFar(t, "127.0.0.1:0"), newHeard()
	s.Listen(h)
	for _, description := range [][]byte{f.offer(), f.offer("a=recvonly", "")} {
		_, err := s.Answer(description)
		g.Expect(err).NotTo(HaveOccurred())
		for n := range maxBlind {
			g.Expect(s.Send(tone(n), true)).To(Succeed())
		}
	}
	first := f.next()
	for range maxBlind - 1 {
		f.next()
	}
	f.send(s, 0, 160, speech())
	g.Eventually(h.audio).Should(Receive())
	g.Expect(s.Send(tone(0), true)).To(Succeed())
	g.Expect(f.next()).To(Equal(first+2*maxBlind), "nothing was sent between")
}

// next reads the next packet that the telephone has received, and returns its sequence number.
func (f *far) next() uint16 {
	b := make([]byte, 1500)
	f.g.Expect(f.conn.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
	n, err := f.conn.Read(b)
	f.g.Expect(err).NotTo(HaveOccurred())
	var p rtp.Packet
	f.g.Expect(p.Unmarshal(b[:n])).To(Succeed())
	return p.SequenceNumber
}

func TestComfortNoiseIsSilence(t *testing.T) {
	g := NewWithT(t)
	s, f, h := open(t, Config{}), newFar(t, "127.0.0.1:0"), newHeard()
	_, err := s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	s.Listen(h)
	f.send(s, 13, 160, []byte{70, 1, 2})
	var pcm []int16
	g.Eventually(h.audio).Should(Receive(&pcm))
	g.Expect(loudness(pcm)).To(BeZero())
}

func TestQuietFarEndEndsTheCall(t *testing.T) {
	g := NewWithT(t)
	s, f, h := open(t, Config{Quiet: time.Nanosecond}), newFar(t, "127.0.0.1:0"), newHeard()
	_, err := s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	s.Listen(h)
	f.send(s, 99, 160, speech()) // a packet that says nothing wakes it
	g.Eventually(h.ended).Should(Receive(MatchError(link.ErrUnreachable)))
}

// While the far end holds the call it hears nothing, and may be silent for longer.
func TestHeldCallIsSilent(t *testing.T) {
	g := NewWithT(t)
	s, f, h := open(t, Config{Quiet: time.Nanosecond}), newFar(t, "127.0.0.1:0"), newHeard()
	_, err := s.Answer(f.offer("a=sendonly", ""))
	g.Expect(err).NotTo(HaveOccurred())
	s.Listen(h)
	g.Expect(s.Held()).To(BeTrue())
	g.Expect(s.Send(tone(0), true)).To(Succeed())
	_, err = s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Send(tone(0), true)).To(Succeed())
	buf := make([]byte, maxPacket)
	n, err := f.conn.Read(buf)
	g.Expect(err).NotTo(HaveOccurred())
	var p rtp.Packet
	g.Expect(p.Unmarshal(buf[:n])).To(Succeed())
	g.Expect(p.Timestamp).To(Equal(s.out.header.Timestamp), "the only packet is the second frame")
}

func TestEncryptedStreams(t *testing.T) {
	g := NewWithT(t)
	s, f := open(t, Config{}), newFar(t, "127.0.0.1:0")
	key := newKey()
	theirs := local{
		at: netip.AddrPortFrom(here, localPort(f.conn)), key: key, tag: "7", direction: sendRecv,
		formats: []payload{{0, codecOf("pcmu", narrow)}}, events: map[uint32]uint8{},
	}
	answer, err := s.Answer(theirs.write([]string{""}, 0))
	g.Expect(err).NotTo(HaveOccurred())
	d, err := read(answer)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.crypto.tag).To(Equal("7"))
	g.Expect(d.crypto.key).NotTo(Equal(key))
	out, err := newContext(key)
	g.Expect(err).NotTo(HaveOccurred())
	in, err := newContext(d.crypto.key)
	g.Expect(err).NotTo(HaveOccurred())
	h := newHeard()
	s.Listen(h)
	to := netip.AddrPortFrom(here, localPort(s.conn))
	header := rtp.Header{Version: 2, SequenceNumber: 1, Timestamp: 160, SSRC: 7}
	plain, err := (&rtp.Packet{Header: header, Payload: speech()}).Marshal()
	g.Expect(err).NotTo(HaveOccurred())
	coded, err := out.EncryptRTP(nil, plain, &header)
	g.Expect(err).NotTo(HaveOccurred())
	for _, b := range [][]byte{plain, coded} { // the first has no code
		_, err = f.conn.WriteToUDPAddrPort(b, to)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Eventually(h.audio).Should(Receive())
	g.Expect(h.audio).To(BeEmpty())
	g.Expect(s.Send(tone(0), true)).To(Succeed())
	buf := make([]byte, maxPacket)
	n, err := f.conn.Read(buf)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = in.DecryptRTP(nil, buf[:n], nil)
	g.Expect(err).NotTo(HaveOccurred())

	// Another address has the same key, and counts on.
	was := s.in.secure
	theirs.at = netip.AddrPortFrom(here, localPort(newFar(t, "127.0.0.1:0").conn))
	_, err = s.Answer(theirs.write([]string{""}, 0))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.in.secure).To(BeIdenticalTo(was))

	// A later offer may be without encryption.
	_, err = s.Answer(f.offer())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Send(tone(0), true)).To(Succeed())
	n, err = f.conn.Read(buf)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n).To(Equal(12 + 160))
}

// A call that the server has encrypted stays so.
func TestEncryptionStays(t *testing.T) {
	g := NewWithT(t)
	a, b, f := open(t, Config{Secure: true}), open(t, Config{}), newFar(t, "127.0.0.1:0")
	answer, err := b.Answer(a.Offer())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Answered(answer)).To(Succeed())
	_, err = a.Answer(f.offer())
	g.Expect(err).To(MatchError(ContainSubstring("not encrypted")))
}

// The telephone may give its codec another number later, and take no keys any more.
func TestNumbersMayChange(t *testing.T) {
	g := NewWithT(t)
	s, f := open(t, Config{}), newFar(t, "127.0.0.1:0")
	offer := func(formats string) []byte {
		return fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP %s\r\na=rtpmap:96 opus/48000/2\r\na=rtpmap:111 opus/48000/2\r\na=rtpmap:101 telephone-event/48000\r\n",
			localPort(f.conn), formats)
	}
	_, err := s.Answer(offer("96 101"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Press("12")).To(Succeed())
	sent := func() uint8 {
		g.Expect(s.Send(tone(0), false)).To(Succeed())
		buf := make([]byte, maxPacket)
		n, err := f.conn.Read(buf)
		g.Expect(err).NotTo(HaveOccurred())
		var p rtp.Packet
		g.Expect(p.Unmarshal(buf[:n])).To(Succeed())
		return p.PayloadType
	}
	g.Expect(sent()).To(BeEquivalentTo(101))
	_, err = s.Answer(offer("111"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sent()).To(BeEquivalentTo(111))
	g.Expect(s.Press("1")).To(MatchError(ErrNoKeys))
}

// coded returns the decoder of a codec after it has decoded some frames of a tone, and the last frame.
func coded(g *WithT, c *codec, hz float64) (dec opus.Decoding, last []int16) {
	enc, err := c.encode()
	g.Expect(err).NotTo(HaveOccurred())
	dec, err = c.decode()
	g.Expect(err).NotTo(HaveOccurred())
	packet, pcm := make([]byte, 400), make([]int16, Rate/50*6)
	for i := range 10 {
		n, err := enc.Encode(toneOf(hz, i), packet)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(n).To(Equal(perFrame))
		n, err = dec.Decode(packet[:n], pcm)
		g.Expect(err).NotTo(HaveOccurred())
		last = pcm[:n]
	}
	return dec, last
}

// G.722 carries what is above the band of G.711.
func TestWideband(t *testing.T) {
	g := NewWithT(t)
	_, heard := coded(g, codecOf("g722", narrow), 5500)
	g.Expect(loudness(heard)).To(BeNumerically(">", 8000*8000/4))
	_, heard = coded(g, codecOf("pcmu", narrow), 5500)
	g.Expect(loudness(heard)).To(BeNumerically("<", 8000*8000/400))
}

// What is made up for lost packets goes on like the voice before, and fades.
func TestConcealment(t *testing.T) {
	for _, name := range []string{"pcma", "g722"} {
		t.Run(name, func(t *testing.T) { conceals(NewWithT(t), codecOf(name, narrow)) })
	}
}

func conceals(g *WithT, c *codec) {
	dec, pcm := coded(g, c, 440)
	before := math.Inf(1)
	for range 4 {
		frame := pcm[:Rate/50]
		g.Expect(dec.Conceal(frame)).To(Succeed())
		g.Expect(loudness(frame)).To(BeNumerically("<", before))
		before = loudness(frame)
	}
	g.Expect(before).To(BeNumerically("<", 1e5))
}

// testTime is when packets come in tests without a socket.
var testTime = time.Unix(1_800_000_000, 0)

// A call may end while it is answered.
func TestListenWhileItCloses(t *testing.T) {
	for range 50 {
		s := open(t, Config{})
		listens := make(chan struct{})
		go func() {
			defer close(listens)
			s.Listen(newHeard())
		}()
		s.Close()
		<-listens
	}
}
