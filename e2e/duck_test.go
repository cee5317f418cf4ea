package e2e

// Barge-in with a client on pion alone, which ducks the agent by itself.

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/internal/bare"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// ducker is a client that predicts barge-in and has no SDK: pion, the client's machine (coord/bargein), and a playback with a delay of
// 60 ms, as a browser has. One goroutine at a time.
type ducker struct {
	*gomega.WithT
	t       *testing.T
	peer    *bare.Peer
	decoder *gopus.Decoder
	mute    *time.Ticker // the times at which the microphone sends silence

	state    bargein.State
	lower    bool // the agent is ducked
	muted    bool // packets are not played until a silent one comes
	waits    bool // the client waits until the mark has been played
	mark     bargein.Position
	response string // the id of the first response
	queue    []bare.Packet
	due      []time.Time
	now      uint32
	full     []int16 // the sound that was played at full level and is not played again, in order
	last     []int16 // the part of full that the present packet has
	voiced   int     // how many packets of the first response were played, at any level
	over     int     // the value of voiced when the agent was ducked
	seen     []wire.ServerEvent
}

func newDucker(t *testing.T, h *house) *ducker {
	d := &ducker{WithT: gomega.NewWithT(t), t: t, state: bargein.Silent{}, mute: time.NewTicker(20 * time.Millisecond)}
	var err error
	d.peer, err = bare.Call(t.Context(), http.DefaultClient, h.url)
	d.Expect(err).NotTo(gomega.HaveOccurred())
	d.decoder, err = gopus.NewDecoder(gopus.DefaultDecoderConfig(native.Rate, 1))
	d.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		d.mute.Stop()
		_ = d.peer.Close() // the server may have ended it
	})
	d.send(&wire.AntiphonHello{EventID: "hello", BargeIn: true})
	d.until("the extensions to be known", func() bool { return d.count("antiphon.ack") == 1 })
	return d
}

func (d *ducker) send(e wire.ClientEvent) {
	d.Expect(d.peer.Send(wire.AppendClient(nil, e), true)).To(gomega.Succeed())
}

// until lets the call go on until so returns true.
func (d *ducker) until(what string, so func() bool) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for !so() {
		var plays <-chan time.Time
		if len(d.due) > 0 {
			plays = time.After(time.Until(d.due[0]))
		}
		select {
		case data := <-d.peer.Messages():
			e, err := wire.DecodeServer(data)
			d.Expect(err).NotTo(gomega.HaveOccurred())
			d.event(e)
		case p := <-d.peer.Packets():
			d.queue, d.due = append(d.queue, p), append(d.due, time.Now().Add(60*time.Millisecond))
		case <-plays:
			p := d.queue[0]
			d.queue, d.due = d.queue[1:], d.due[1:]
			d.play(p)
		case <-d.mute.C:
			d.Expect(d.peer.Speak([]byte{0xF8, 0xFF, 0xFE})).To(gomega.Succeed())
		case <-late.C:
			d.Expect(what).To(gomega.BeEmpty(), "waited in vain for")
		}
	}
}

func (d *ducker) passes(of time.Duration) {
	end := time.Now().Add(of)
	d.until("time to pass", func() bool { return time.Now().After(end) })
}

func (d *ducker) event(e wire.ServerEvent) {
	d.seen = append(d.seen, e)
	switch e := e.(type) {
	case *wire.OutputAudioBufferStarted:
		if d.response == "" {
			d.response = e.ResponseID
			d.tell(bargein.Began{Resp: 1})
		}
	case *wire.OutputAudioBufferCleared:
		d.tell(bargein.Confirmed{Resp: 1, At: bargein.Position(d.now)})
	case *wire.AntiphonAck:
		if n := 0; scan(e.Acknowledges, &n) {
			d.tell(bargein.Acked{Candidate: bargein.ID(n), At: bargein.Position(e.RTPTimestamp)})
		}
	case *wire.AntiphonBargeInRejected:
		d.tell(bargein.Rejected{Candidate: bargein.ID(e.Candidate)})
	case *wire.ErrorEvent:
		d.t.Errorf("an error: %s", e.Error.Message)
	}
}

func scan(event string, n *int) bool {
	_, err := fmt.Sscanf(event, "candidate %d", n)
	return err == nil
}

func (d *ducker) tell(e bargein.Event) {
	next, effects, _ := bargein.Table.Next(d.state, e)
	d.state = next
	for _, f := range effects {
		switch f := f.(type) {
		case bargein.Duck:
			d.lower, d.over = true, d.voiced
		case bargein.Silence:
			d.lower = true
		case bargein.Restore:
			d.lower = false
		case bargein.SendCandidate:
			d.send(&wire.AntiphonBargeInCandidate{
				EventID: fmt.Sprintf("candidate %d", f.Candidate), Candidate: int(f.Candidate), ResponseID: d.response, RTPTimestamp: int(f.At),
			})
		case bargein.AwaitPosition:
			d.waits, d.mark = true, f.At
			d.passed()
		case bargein.SendReady:
			d.send(&wire.AntiphonBargeInReady{Candidate: int(f.Candidate), RTPTimestamp: int(f.At)})
		case bargein.Mute:
			d.muted = true
		case bargein.SendHeard:
			d.send(&wire.AntiphonBargeInHeard{ResponseID: d.response, RTPTimestamp: int(f.At)})
		case bargein.ArmDeadline: // the server answers before the deadline here
		}
	}
}

func (d *ducker) passed() {
	if d.waits && int32(d.now-uint32(d.mark)) >= 0 {
		d.waits = false
		d.tell(bargein.Passed{Candidate: bargein.Pending(d.state)})
	}
}

// play plays one packet.
func (d *ducker) play(p bare.Packet) {
	d.full, d.last = append(d.full, d.last...), nil
	d.now = p.Timestamp
	d.passed()
	pcm := make([]int16, 5760)
	n, err := d.decoder.DecodeInt16(p.Payload, pcm)
	d.Expect(err).NotTo(gomega.HaveOccurred())
	if slices.Equal(p.Payload, []byte{0xF8, 0xFF, 0xFE}) {
		d.muted = false
		return
	}
	if d.muted {
		return
	}
	d.voiced++
	d.last = pcm[:n] // at full level or lowered
}

func (d *ducker) count(name string) int {
	n := 0
	for _, e := range d.seen {
		if e.Type() == name {
			n++
		}
	}
	return n
}

// begins makes the agent say twenty words, and waits until it is at the second sentence.
func (d *ducker) begins() {
	d.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "say 20 words"}},
	}})
	d.send(&wire.ResponseCreate{})
	d.until("the agent to speak", func() bool { return d.voiced >= 130 })
}

// nonsense sends barge-in events that must change nothing.
func (d *ducker) nonsense() {
	d.send(&wire.AntiphonBargeInCandidate{EventID: "a", Candidate: -3, ResponseID: d.response, RTPTimestamp: int(d.now)})
	d.send(&wire.AntiphonBargeInCandidate{EventID: "b", Candidate: 0, ResponseID: "resp_of_nobody"})
	d.send(&wire.AntiphonBargeInReady{Candidate: 99, RTPTimestamp: int(d.now)})
	d.send(&wire.AntiphonBargeInHeard{ResponseID: "resp_of_nobody", RTPTimestamp: 1})
	d.send(&wire.AntiphonBargeInHeard{ResponseID: d.response, RTPTimestamp: int(d.now)})
}

// TestClientThatDucks: over real WebRTC, a client ducks the agent twice for a sound that is no barge-in. Every word is played once:
// what was lowered is not said again.
func TestClientThatDucks(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	d := newDucker(t, h)
	d.begins()
	for n := range 2 {
		d.tell(bargein.Onset{Candidate: bargein.ID(n + 1), At: bargein.Position(d.now)})
		d.nonsense()
		d.until("the verdict", func() bool { return d.count("antiphon.barge_in.rejected") == n+1 })
		d.passes(500 * time.Millisecond)
	}
	d.until("the end", func() bool { return d.count("output_audio_buffer.stopped") == 1 })
	d.passes(200 * time.Millisecond)

	text, err := scripted.Heard(d.full)
	d.Expect(err).NotTo(gomega.HaveOccurred())
	d.Expect(text).To(saysAllBut(3, twenty)) // a lost packet loses one character
	d.Expect(len(d.full)).To(gomega.BeNumerically("~", len(twenty)*60*24, 120*24))
	d.Expect(d.voiced).To(gomega.BeNumerically("~", len(twenty)*3, 6))
	d.Expect(d.count("output_audio_buffer.cleared") + d.count("input_audio_buffer.speech_started")).To(gomega.BeZero())
	d.Expect(h.actions(t, "playout")).To(gomega.ContainElement("Ready"))
}

// TestClientThatDucksIsInterrupted: the item is cut at the played position.
func TestClientThatDucksIsInterrupted(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	d := newDucker(t, h)
	d.begins()
	d.tell(bargein.Onset{Candidate: 1, At: bargein.Position(d.now)})
	d.nonsense()
	d.until("the candidate to be known", func() bool { return d.count("antiphon.ack") == 3 }) // the answers to what is nonsense; its own comes with the silence
	d.until("what is under way to be heard", func() bool { return d.voiced > d.over })
	d.send(&wire.InputAudioBufferCommit{})
	d.until("the cut", func() bool { return d.count("conversation.item.truncated") == 1 })
	at := slices.IndexFunc(d.seen, func(e wire.ServerEvent) bool { return e.Type() == "conversation.item.truncated" })
	cut, ok := d.seen[at].(*wire.ConversationItemTruncated)
	d.Expect(ok).To(gomega.BeTrue())
	d.Expect(cut.AudioEndMS).To(gomega.BeNumerically("~", d.voiced*20, 40))
	d.Expect(h.actions(t, "playout")).To(gomega.ContainElement("Truncate"))
	d.Expect(h.actions(t, "playout")).NotTo(gomega.ContainElement("TruncateUnheard"))
}
