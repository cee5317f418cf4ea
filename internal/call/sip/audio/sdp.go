package audio

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
)

// SDP: reads the offers and answers of telephones, and writes ours.

// Limits of what a far end may describe.
const (
	maxSDP   = 16 << 10
	maxLines = 16 // media lines
)

// ErrNothingInCommon means that a description has no audio that this package can take.
var ErrNothingInCommon = errors.New("no audio that this server takes: offer Opus, G722, PCMU or PCMA over RTP/AVP or RTP/SAVP")

// The directions of an audio stream, as the one who writes them sees them.
const (
	sendRecv = "sendrecv"
	sendOnly = "sendonly"
	recvOnly = "recvonly"
	inactive = "inactive"
)

// payload is one format of a media line.
type payload struct {
	number uint8
	codec  *codec
}

// description is what the far end says of its audio.
type description struct {
	remote    netip.AddrPort
	audio     payload
	events    uint8  // the payload type of telephone events (RFC 4733); 0 for none
	direction string // what the far end does
	crypto    *crypto

	lines []string // the first words of the media lines, for the answer
	line  int      // which of them is the audio
}

// sends and hears report what the far end does with its audio.
func (d *description) sends() bool { return d.direction == sendRecv || d.direction == sendOnly }

func (d *description) hears() bool {
	return (d.direction == sendRecv || d.direction == recvOnly) && !d.remote.Addr().IsUnspecified()
}

// read reads an offer or an answer.
func read(text []byte) (*description, error) {
	if len(text) > maxSDP {
		return nil, fmt.Errorf("the SDP has %d bytes: at most %d are read", len(text), maxSDP)
	}
	if strings.Count(string(text), "\nm=") > maxLines {
		return nil, fmt.Errorf("the SDP has more than %d media lines", maxLines)
	}
	var s sdp.SessionDescription
	lines, plain := mediaLines(string(text))
	if err := s.Unmarshal([]byte(plain)); err != nil {
		return nil, fmt.Errorf("the SDP cannot be read: %w", err)
	}
	d := &description{line: -1, lines: lines}
	if len(lines) != len(s.MediaDescriptions) {
		return nil, errors.New("the SDP cannot be read: a media line has another form than the rest")
	}
	var refused error
	for i, m := range s.MediaDescriptions {
		if d.line >= 0 || m.MediaName.Media != "audio" || m.MediaName.Port.Value == 0 {
			continue
		}
		if err := d.take(&s, m); err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		d.line = i
	}
	if d.line < 0 {
		return nil, errors.Join(ErrNothingInCommon, refused)
	}
	return d, nil
}

// mediaLines returns the media lines as an answer refuses them, and the text without the media other than audio: pion's reader refuses a description with a kind of
// media that it does not know, such as fax.
func mediaLines(text string) (refused []string, plain string) {
	var b strings.Builder
	other := false
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); strings.HasPrefix(line, "m=") && len(words) > 3 {
			refused = append(refused, strings.TrimPrefix(words[0], "m=")+" 0 "+strings.Join(words[2:], " "))
			if other = words[0] != "m=audio"; other {
				line = "m=video 0 RTP/AVP 0\r\n"
			}
		} else if other {
			continue
		}
		b.WriteString(line)
	}
	return refused, b.String()
}

// take takes an audio line, or says why it cannot.
func (d *description) take(s *sdp.SessionDescription, m *sdp.MediaDescription) (err error) {
	secure := false
	switch proto := strings.Join(m.MediaName.Protos, "/"); proto {
	case "RTP/AVP", "RTP/AVPF":
	case "RTP/SAVP", "RTP/SAVPF":
		secure = true
	default:
		return fmt.Errorf("the transport %.20q is none of RTP/AVP and RTP/SAVP", proto)
	}
	d.crypto = nil
	if secure {
		if d.crypto, err = readCrypto(m); err != nil {
			return err
		}
	}
	if d.remote, err = address(s, m); err != nil {
		return err
	}
	d.direction = direction(s, m)
	return d.formats(m)
}

// formats takes the first format that this package has, and the telephone events of its clock.
func (d *description) formats(m *sdp.MediaDescription) error {
	d.audio, d.events = payload{}, 0
	events := map[uint32]uint8{}
	for _, f := range m.MediaName.Formats {
		n, err := strconv.ParseUint(f, 10, 7)
		if err != nil {
			continue
		}
		name, clock := static(uint8(n))
		if own, ok := rtpmap(m, f); ok {
			name, clock = own.name, own.clock
		}
		if name == "telephone-event" {
			if _, known := events[clock]; !known {
				events[clock] = uint8(n)
			}
			continue
		}
		if c := codecOf(name, clock); c != nil && d.audio.codec == nil {
			d.audio = payload{uint8(n), c}
		}
	}
	if d.audio.codec == nil {
		return ErrNothingInCommon
	}
	d.events = events[d.audio.codec.clock]
	return nil
}

// mapping is an attribute a=rtpmap.
type mapping struct {
	name  string
	clock uint32
}

// rtpmap returns the mapping of a format, if the line has one.
func rtpmap(m *sdp.MediaDescription, format string) (mapping, bool) {
	for _, a := range m.Attributes {
		rest, ok := strings.CutPrefix(a.Value, format+" ")
		if a.Key != "rtpmap" || !ok {
			continue
		}
		parts := strings.Split(strings.TrimSpace(rest), "/")
		if len(parts) < 2 {
			return mapping{}, true
		}
		clock, _ := strconv.ParseUint(parts[1], 10, 32) // 0 is the clock of no codec
		return mapping{strings.ToLower(parts[0]), uint32(clock)}, true
	}
	return mapping{}, false
}

// dynamic is the first payload type that has no format without a mapping.
const dynamic = 96

// static returns the format that a payload type has without a mapping (RFC 3551).
func static(n uint8) (name string, clock uint32) {
	for _, c := range codecs {
		if c.static == n && n < dynamic {
			return c.name, c.clock
		}
	}
	return "", 0
}

// minPort is the lowest port to which audio goes. The services of others are below.
const minPort = 1024

// address returns where the far end wants its audio.
func address(s *sdp.SessionDescription, m *sdp.MediaDescription) (netip.AddrPort, error) {
	c := m.ConnectionInformation
	if c == nil {
		c = s.ConnectionInformation
	}
	if c == nil || c.Address == nil {
		return netip.AddrPort{}, errors.New("the SDP has no line c= with an address")
	}
	ip, err := netip.ParseAddr(c.Address.Address)
	if err != nil || ip.IsMulticast() || ip.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return netip.AddrPort{}, fmt.Errorf("the SDP's address %.60q is not the IP address of one machine", c.Address.Address)
	}
	if p := m.MediaName.Port.Value; p < minPort || p > 65535 {
		return netip.AddrPort{}, fmt.Errorf("the SDP's port %d is none for audio: want %d to 65535", p, minPort)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(m.MediaName.Port.Value)), nil
}

// direction returns what the far end does with its audio.
func direction(s *sdp.SessionDescription, m *sdp.MediaDescription) string {
	for _, attributes := range [][]sdp.Attribute{m.Attributes, s.Attributes} {
		for _, a := range attributes {
			switch a.Key {
			case sendRecv, sendOnly, recvOnly, inactive:
				return a.Key
			}
		}
	}
	return sendRecv
}

// answered returns the direction of our answer to the far end's.
func answered(theirs string) string {
	switch theirs {
	case sendOnly:
		return recvOnly
	case recvOnly:
		return sendOnly
	case inactive:
		return inactive
	}
	return sendRecv
}

// suite is the encryption of RFC 4568 that this package has.
const suite = "AES_CM_128_HMAC_SHA1_80"

// keyBytes is the length of a master key with its salt.
const keyBytes = 16 + 14

// crypto is an attribute a=crypto.
type crypto struct {
	tag string
	key []byte // the master key, and its salt
}

// readCrypto returns the first key that this package can use.
func readCrypto(m *sdp.MediaDescription) (*crypto, error) {
	for _, a := range m.Attributes {
		fields := strings.Fields(a.Value)
		if a.Key != "crypto" || len(fields) != 3 || fields[1] != suite {
			continue // with session parameters it has more than three
		}
		inline, ok := strings.CutPrefix(fields[2], "inline:")
		inline, options, _ := strings.Cut(inline, "|")
		if !ok || strings.Contains(options, ":") || len(fields[0]) > 9 {
			continue // a colon is a key identifier (MKI)
		}
		key, err := base64.StdEncoding.DecodeString(inline)
		if err == nil && len(key) == keyBytes {
			return &crypto{fields[0], key}, nil
		}
	}
	return nil, fmt.Errorf("the line RTP/SAVP has no a=crypto with %s, without a key identifier", suite)
}

// newKey returns a random master key with its salt.
func newKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	return key
}

// local is what we say of our audio.
type local struct {
	at        netip.AddrPort // where the far end reaches us
	id        uint64         // of the session; the version counts the descriptions
	version   uint64
	key       []byte // nil for RTP without encryption
	tag       string // of our attribute a=crypto
	direction string
	formats   []payload
	events    map[uint32]uint8 // by clock
}

// write appends a session description. lines are the media lines of the offer that it answers, and line is the one for the audio; an offer has one line.
func (l *local) write(lines []string, line int) []byte {
	var b strings.Builder
	family := "IP4"
	if l.at.Addr().Is6() {
		family = "IP6"
	}
	fmt.Fprintf(&b, "v=0\r\no=- %d %d IN %s %s\r\ns=-\r\nc=IN %s %s\r\nt=0 0\r\n", l.id, l.version, family, l.at.Addr(), family, l.at.Addr())
	for i, refused := range lines {
		if i != line {
			b.WriteString("m=" + refused + "\r\n")
			continue
		}
		l.audio(&b)
	}
	return []byte(b.String())
}

// audio writes the media line of the audio and its attributes.
func (l *local) audio(b *strings.Builder) {
	proto := "RTP/AVP"
	if l.key != nil {
		proto = "RTP/SAVP"
	}
	numbers, maps := "", ""
	clocks := map[uint32]bool{}
	for _, f := range l.formats {
		numbers += fmt.Sprintf(" %d", f.number)
		maps += fmt.Sprintf("a=rtpmap:%d %s\r\n", f.number, f.codec.mapping)
		if n := l.events[f.codec.clock]; n != 0 && !clocks[f.codec.clock] {
			maps += fmt.Sprintf("a=rtpmap:%d telephone-event/%d\r\na=fmtp:%d 0-15\r\n", n, f.codec.clock, n)
			clocks[f.codec.clock] = true
		}
	}
	for _, f := range l.formats {
		if clocks[f.codec.clock] {
			numbers += fmt.Sprintf(" %d", l.events[f.codec.clock])
			clocks[f.codec.clock] = false
		}
	}
	fmt.Fprintf(b, "m=audio %d %s%s\r\n%s", l.at.Port(), proto, numbers, maps)
	if l.key != nil {
		fmt.Fprintf(b, "a=crypto:%s %s inline:%s\r\n", l.tag, suite, base64.StdEncoding.EncodeToString(l.key))
	}
	fmt.Fprintf(b, "a=ptime:20\r\na=%s\r\n", l.direction)
}

// randomID returns a random id of a session, small enough for all readers.
func randomID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:]) >> 2
}
