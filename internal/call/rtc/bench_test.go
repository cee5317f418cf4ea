package rtc

// The cost of a WebRTC call: time for a second of audio, memory, and time of an answer.

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/incoming"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/offer"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// mute is a Handler and a track that do nothing.
type mute struct{}

func (mute) Opened()                          {}
func (mute) Message([]byte, bool)             {}
func (mute) Audio([]int16)                    {}
func (mute) Missing(int)                      {}
func (mute) Lost()                            {}
func (mute) Restored()                        {}
func (mute) Failed(error)                     {}
func (mute) Sent(uint64, voice.Samples, bool) {}
func (mute) Drained(uint64)                   {}
func (mute) WriteRTP(*rtp.Packet) error       { return nil }

// BenchmarkSpeakSecond measures the cost of one second of the agent's audio: an operation is 50 frames. The reference copy only copies
// the same PCM; write is pion alone, with packets of the same size.
func BenchmarkSpeakSecond(b *testing.B) {
	second := buzz(0, Rate, Rate)
	b.Run("copy", func(b *testing.B) {
		dst := make([]int16, Rate)
		for b.Loop() {
			copy(dst, second)
		}
	})
	for _, row := range []struct {
		name       string
		complexity int
	}{{"complexity1", 1}, {"complexity5", 5}, {"complexity10", 10}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			s := NewOutput(randomStart())
			p := NewPacer(s, mute{}, opus.NewPool(row.complexity, 40_000), mute{}, func(err error) { b.Error(err) })
			s.Begin(1)
			for b.Loop() {
				s.Write(second)
				for range 50 {
					p.Send()
				}
			}
		})
	}
	b.Run("silence", func(b *testing.B) {
		p := NewPacer(NewOutput(randomStart()), mute{}, nil, mute{}, func(err error) { b.Error(err) })
		for b.Loop() {
			for range 50 {
				p.Send()
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		r := &recorder{}
		_, p := dial(b, newTestEngine(b, Config{}), r, clientOptions{})
		connected(gomega.NewWithT(b), r)
		packet := rtp.Packet{Header: rtp.Header{Version: 2}, Payload: make([]byte, 100)}
		for b.Loop() {
			for range 50 {
				packet.SequenceNumber++
				packet.Timestamp += frameTicks
				_ = p.track.WriteRTP(&packet)
			}
		}
	})
}

// BenchmarkListenSecond measures the cost of one second of the client's audio, from payloads to PCM. copy is the reference.
func BenchmarkListenSecond(b *testing.B) {
	pcm := buzz(0, Rate, Rate)
	b.Run("copy", func(b *testing.B) {
		dst := make([]int16, Rate)
		for b.Loop() {
			copy(dst, pcm)
		}
	})
	enc, err := opus.NewEncoder(5, 40_000)
	if err != nil {
		b.Fatal(err)
	}
	var packets [][]byte
	for i := range 50 {
		packet := make([]byte, opus.MaxBytes)
		n, err := enc.Encode(pcm[i*FrameSize:(i+1)*FrameSize], packet)
		if err != nil {
			b.Fatal(err)
		}
		packets = append(packets, packet[:n])
	}
	for _, row := range []struct {
		name string
		lose int // one packet in so many is lost; 0 for none
	}{{"whole", 1 << 30}, {"lose1in10", 10}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			dec, err := opus.NewDecoder()
			if err != nil {
				b.Fatal(err)
			}
			var stats incoming.Stats
			in := incoming.New(dec, &stats, mute{})
			at, n := time.Unix(0, 0), 0
			for b.Loop() {
				for _, payload := range packets {
					n++
					at = at.Add(frameTime)
					if n%row.lose != 0 {
						in.Push(incoming.Packet{Seq: uint16(n), TS: uint32(n) * frameTicks, Payload: payload, At: at})
						in.Tick(at)
					}
				}
			}
		})
	}
}

// BenchmarkMemory reports how much memory a call keeps, with a client in the same process: a pair of client and Peer that have sent
// audio for a moment. The reference is a pair of two clients, so the difference is what a Peer needs in addition to pion.
func BenchmarkMemory(b *testing.B) {
	const pairs = 20
	g := gomega.NewWithT(b)
	b.Run("clients", func(b *testing.B) {
		for b.Loop() {
			before := inUse()
			for range pairs {
				offerer, answerer := newClient(b, clientOptions{}), newClient(b, clientOptions{label: "-"})
				join(b, offerer, answerer)
				g.Eventually(offerer.opened.Load, soon).Should(gomega.BeTrue())
				packet := rtp.Packet{Header: rtp.Header{Version: 2}, Payload: opus.SilentPacket()}
				_ = answerer.voice.WriteRTP(&packet)
			}
			b.ReportMetric(float64(inUse()-before)/pairs/1024, "KiB/pair")
		}
	})
	b.Run("peer", func(b *testing.B) {
		speech := buzz(0, 3*Rate, Rate)
		for b.Loop() {
			before := inUse()
			e := newTestEngine(b, Config{})
			for range pairs {
				c, p := dial(b, e, &mute{}, clientOptions{})
				p.output.Begin(1)
				p.output.Write(speech)
				g.Eventually(c.opened.Load, soon).Should(gomega.BeTrue())
				g.Eventually(p.output.Sent, soon).Should(gomega.BeNumerically(">", 10*FrameSize))
				c.say(b, [][]byte{opus.SilentPacket(), opus.SilentPacket()})
			}
			b.ReportMetric(float64(inUse()-before)/pairs/1024, "KiB/pair")
		}
	})
}

// inUse returns the memory in use after a garbage collection, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// join connects two clients.
func join(b *testing.B, offerer, answerer *client) {
	b.Helper()
	offer := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offerer.offer(b)}
	if err := answerer.pc.SetRemoteDescription(offer); err != nil {
		b.Fatal(err)
	}
	answer, err := answerer.pc.CreateAnswer(nil)
	if err != nil {
		b.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(answerer.pc)
	if err := answerer.pc.SetLocalDescription(answer); err != nil {
		b.Fatal(err)
	}
	<-gathered
	if err := offerer.pc.SetRemoteDescription(*answerer.pc.LocalDescription()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAnswer measures the time from an offer to its answer. The reference is the time in which pion alone makes a peer
// connection. Most of both is the key for DTLS.
func BenchmarkAnswer(b *testing.B) {
	e := newTestEngine(b, Config{})
	b.Run("pion", func(b *testing.B) {
		for b.Loop() {
			pc, err := e.newConnection(offer.Offer{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			_ = pc.Close()
		}
	})
	b.Run("answer", func(b *testing.B) {
		offer := newClient(b, clientOptions{}).offer(b)
		for b.Loop() {
			p, _, err := e.Answer(context.Background(), offer, nil, mute{})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = p.Close()
			b.StartTimer()
		}
	})
}
