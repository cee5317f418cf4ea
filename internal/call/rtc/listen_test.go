package rtc

// Reading the client's packets and reports, and the log of pion.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/pionlog"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

func TestPayloadOf(t *testing.T) {
	packet := func(h rtp.Header, payload ...byte) []byte {
		h.Version = 2
		b, err := (&rtp.Packet{Header: h, Payload: payload}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	padded := func(payload ...byte) []byte { // only the header says that there is padding
		b := packet(rtp.Header{}, payload...)
		b[0] |= 0x20
		return b
	}
	extended := rtp.Header{}
	if err := extended.SetExtension(1, []byte{7}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		packet []byte
		want   []byte
		ok     bool
	}{
		{"plain", packet(rtp.Header{}, 1, 2, 3), []byte{1, 2, 3}, true},
		{"with a header extension", packet(extended, 1, 2), []byte{1, 2}, true},
		{"padded", padded(1, 2, 3, 2), []byte{1, 2}, true},
		{"nothing but padding", padded(0, 0, 3), nil, true},
		{"more padding than packet", padded(1, 2, 200), nil, false},
		{"empty", packet(rtp.Header{}), nil, true},
		{"cut off", packet(rtp.Header{}, 1)[:7], nil, false},
		{"nothing", nil, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var h rtp.Header
			payload, ok := payloadOf(&h, row.packet)
			g.Expect(ok).To(gomega.Equal(row.ok))
			g.Expect(bytes.Equal(payload, row.want)).To(gomega.BeTrue(), "%v", payload)
		})
	}
}

// script is a track, or a source of RTCP, that returns its packets and then ends.
type script struct {
	packets [][]byte
	waits   []bool // the deadline passes before the packet of that index
}

type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func (s *script) SetReadDeadline(time.Time) error { return nil }

func (s *script) Read(b []byte) (int, interceptor.Attributes, error) {
	if len(s.packets) == 0 {
		return 0, nil, io.EOF
	}
	if len(s.waits) > 0 && s.waits[0] {
		s.waits[0] = false
		return 0, nil, timeout{errors.New("too late")}
	}
	n := copy(b, s.packets[0])
	s.packets = s.packets[1:]
	s.waits = s.waits[min(1, len(s.waits)):]
	return n, nil, nil
}

// TestListenGoesOn checks that neither a timeout nor garbage ends listen, and that a packet marks a lost client as restored.
func TestListenGoesOn(t *testing.T) {
	g := gomega.NewWithT(t)
	voiced := func(seq uint16) []byte {
		h := rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: uint32(seq) * frameTicks}
		b, err := (&rtp.Packet{Header: h, Payload: opus.SilentPacket()}).Marshal()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return b
	}
	r := &recorder{}
	life := newLifecycle()
	pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = pc.Close() }) // its end is not under test
	p := &Peer{pc: pc, output: NewOutput(randomStart()), handler: openHandler{life, r}, life: life, reach: newReachability(), hearing: make(chan struct{}, 1)}
	p.reachable(false)
	p.listen(&script{
		packets: [][]byte{voiced(1), {1, 2, 3}, voiced(2), voiced(3)},
		waits:   []bool{false, false, true, false},
	})
	g.Expect(r.audio).To(gomega.HaveLen(3 * FrameSize))
	g.Expect(r.states).To(gomega.Equal([]string{"lost", "restored"}), "a packet marks the client as restored")
}

func TestFeedbackReadsReports(t *testing.T) {
	g := gomega.NewWithT(t)
	report, err := (&rtcp.ReceiverReport{Reports: []rtcp.ReceptionReport{{TotalLost: 12, Jitter: 480}}}).Marshal()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &Peer{pacer: &Pacer{}, output: NewOutput(randomStart())}
	speaking, err := (&rtcp.SenderReport{Reports: []rtcp.ReceptionReport{{TotalLost: 13, Jitter: 480, LastSenderReport: 1}}}).Marshal()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p.feedback((&script{packets: [][]byte{{1, 2, 3}, report}}).Read)
	p.feedback((&script{packets: [][]byte{speaking}}).Read)
	g.Expect(p.Stats().RemoteLost).To(gomega.Equal(uint64(13)))
	g.Expect(p.Stats().RemoteJitter).To(gomega.Equal(10 * time.Millisecond))
}

func TestRoundTrip(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 250_000_000, time.UTC)
	// The low 16 bits of the seconds since 1900, and 65536ths of a second.
	at := uint32(now.Unix()+2_208_988_800)<<16 | 1<<14
	for _, row := range []struct {
		name string
		r    rtcp.ReceptionReport
		want time.Duration // 0 for unknown
	}{
		{"no report of the server yet->unknown", rtcp.ReceptionReport{}, 0},
		{"100 ms in the network, 400 ms at the client->100 ms", rtcp.ReceptionReport{LastSenderReport: at - 1<<15, Delay: 26_214}, 100 * time.Millisecond},
		{"rounded below zero->almost nothing", rtcp.ReceptionReport{LastSenderReport: at + 1}, time.Microsecond},
		{"a clock that jumped->unknown", rtcp.ReceptionReport{LastSenderReport: at - 10<<16}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d, ok := roundTrip(row.r, now)
			g.Expect(ok).To(gomega.Equal(row.want != 0))
			if ok {
				g.Expect(d).To(gomega.BeNumerically("~", row.want, 20*time.Microsecond))
			}
		})
	}
}

// A log at debug level has no passwords of ICE, with which others could send packets in the name of a client.
func TestLoggerLeavesPasswordsOut(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	l := pionlog.New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))).NewLogger("ice")
	l.Debugf("Started agent: isControlling? %t, remoteUfrag: %q, remotePwd: %q", true, "ufrag", "confidential one")
	l.Debug("a=ice-ufrag:ufrag\r\na=ice-pwd:confidential\r\na=mid:0 password=confidential")
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("confidential"))
	g.Expect(out.String()).To(gomega.ContainSubstring("ufrag"))
	g.Expect(out.String()).To(gomega.ContainSubstring("a=mid:0"))
}

// A stranger can cause an error of pion with each packet.
func TestAnErrorOfPionIsAWarningOnceInAWhile(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	pion := pionlog.New(slog.New(slog.NewTextHandler(&out, nil)))
	for n := range 1000 {
		pion.NewLogger("turn").Errorf("unknown attributes from %d", n)
		pion.NewLogger("ice").Errorf("a bad packet from %d", n)
	}
	g.Expect(strings.Count(out.String(), "\n")).To(gomega.Equal(2), out.String())
}

func TestLoggerKeepsPionQuiet(t *testing.T) {
	g := gomega.NewWithT(t)
	chatter := func(level slog.Level) string {
		var out strings.Builder
		l := pionlog.New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))).NewLogger("ice")
		for _, f := range []func(string, ...any){l.Tracef, l.Debugf, l.Infof, l.Warnf, l.Errorf} {
			f("%d things", 3)
		}
		for _, f := range []func(string){l.Trace, l.Debug, l.Info, l.Warn, l.Error} {
			f("a thing")
		}
		return out.String()
	}
	info := chatter(slog.LevelInfo)
	g.Expect(strings.Count(info, "\n")).To(gomega.Equal(2), info)
	g.Expect(info).To(gomega.ContainSubstring(`level=WARN msg="3 things" pion=ice`))
	g.Expect(strings.Count(chatter(slog.LevelDebug), "\n")).To(gomega.Equal(8), "traces are left out")
	g.Expect(discard().Enabled(context.Background(), slog.LevelError)).To(gomega.BeFalse())
}
