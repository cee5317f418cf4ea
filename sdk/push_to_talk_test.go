package sdk_test

// Push-to-talk, volume and pictures.

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// kinds returns the types of the events that the session has sent since the last look.
func kinds(server *sdktest.Server) []string {
	var all []string
	for _, e := range server.Sent() {
		all = append(all, e.Type())
	}
	return all
}

func TestPushToTalk(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.Session.Audio.Input.TurnDetection = nil
	session := server.Connect(sdk.Options{Muted: true, TurnDetection: &sdk.TurnDetection{Manual: true}})
	r := server.Begin("resp_1")
	server.Sent()

	g.Expect(session.StartTalking()).To(gomega.Succeed())
	g.Expect(session.StartTalking()).To(gomega.Succeed(), "a held key repeats its event")
	g.Expect(server.Muted()).To(gomega.BeFalse())
	g.Expect(kinds(server)).To(gomega.Equal([]string{
		"response.cancel", "output_audio_buffer.clear", "antiphon.barge_in.heard", "input_audio_buffer.clear",
	}))
	g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.UserSpeaking))
	g.Expect(session.Snapshot().Predicted).To(gomega.BeTrue())
	r.Interrupt("u0", 0, "")
	server.Sent()

	session.StopTalking()
	g.Expect(server.Muted()).To(gomega.BeTrue())
	g.Expect(kinds(server)).To(gomega.BeEmpty(), "the last sound is still under way")
	server.Clock.Advance(150 * time.Millisecond)
	g.Expect(kinds(server)).To(gomega.Equal([]string{"input_audio_buffer.commit"}))
	session.StopTalking()
}

func TestAShortPressIsNoError(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.Sound = sdktest.Messages
	server.Session.Audio.Input.TurnDetection = nil
	session := server.Connect(sdk.Options{TurnDetection: &sdk.TurnDetection{Manual: true}})
	server.Sent()
	g.Expect(session.StartTalking()).To(gomega.Succeed())
	session.StopTalking()
	sent := server.Sent()
	g.Expect(sent).To(gomega.HaveLen(2), "over a WebSocket the commit comes behind the sound anyway")
	id := sent[1].ID()
	g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Thinking))
	server.Send(&wire.ErrorEvent{Error: wire.Error{Code: "input_audio_buffer_commit_empty", Message: "nothing", EventID: &id}})
	g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Listening))
	g.Expect(session.Snapshot().Err).NotTo(gomega.HaveOccurred())
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
	g.Expect(session.StartTalking()).To(gomega.MatchError(sdk.ErrNotConnected))
	session.StopTalking()
}

// When the key is pressed again before the session has committed the turn, the same turn goes on.
func TestASecondPressContinuesTheTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{TurnDetection: &sdk.TurnDetection{Manual: true}})
	server.Sent()
	g.Expect(session.StartTalking()).To(gomega.Succeed())
	session.StopTalking()
	server.Clock.Advance(100 * time.Millisecond)
	g.Expect(session.StartTalking()).To(gomega.Succeed())
	server.Clock.Advance(time.Second)
	session.StopTalking()
	server.Clock.Advance(time.Second)
	g.Expect(kinds(server)).To(gomega.Equal([]string{"input_audio_buffer.clear", "input_audio_buffer.commit"}))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

// Where the server detects the ends of turns, the key only opens and closes the microphone.
func TestTheKeyWithTurnDetection(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{Muted: true})
	server.Sent()
	g.Expect(session.StartTalking()).To(gomega.Succeed())
	g.Expect(server.Muted()).To(gomega.BeFalse())
	session.StopTalking()
	g.Expect(server.Muted()).To(gomega.BeTrue())
	g.Expect(kinds(server)).To(gomega.BeEmpty())
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

func TestVolume(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{})
	g.Expect(session.Snapshot().Volume).To(gomega.Equal(float32(1)))
	for _, wrong := range []float32{-0.1, 1.1} {
		g.Expect(session.SetVolume(wrong)).To(gomega.MatchError(sdk.ErrInvalid))
	}
	g.Expect(session.SetVolume(0.5)).To(gomega.Succeed())
	g.Expect(server.Volume()).To(gomega.Equal(float32(0.5)))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
	g.Expect(session.Connect(t.Context())).To(gomega.Succeed())
	g.Expect(session.Settle(t.Context())).To(gomega.Succeed())
	g.Expect(server.Volume()).To(gomega.Equal(float32(0.5)), "of the next call too")
	g.Expect(session.Snapshot().Volume).To(gomega.Equal(float32(0.5)))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

func TestPicturesAreSentAndChecked(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{Limits: sdk.Limits{ImageBytes: 40, EntryBytes: 20}})
	const picture = "data:image/png;base64,iVBORw0KGgo="
	for image, text := range map[string]string{
		"https://example.com/a.png":       "",
		"data:image/gif;base64,R0lG":      "",
		picture + strings.Repeat("A", 20): "",
		"data:image/jpeg;base64,/9j/":     strings.Repeat("x", 21),
	} {
		g.Expect(session.SendImage(image, text)).To(gomega.MatchError(sdk.ErrInvalid))
	}
	server.Sent()
	g.Expect(session.SendImage(picture, "")).To(gomega.Succeed())
	g.Expect(kinds(server)).To(gomega.Equal([]string{"conversation.item.create"}))
	g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Listening))

	g.Expect(session.SendImage(picture, "what is it?")).To(gomega.Succeed())
	sent := server.Expect("conversation.item.create").(*wire.ConversationItemCreate)
	g.Expect(sent.Item.Content).To(gomega.HaveLen(2))
	g.Expect(sent.Item.Content[0].ImageURL).To(gomega.Equal(picture))
	server.Expect("response.create")
	shown := session.Snapshot()
	g.Expect(shown.State).To(gomega.Equal(sdk.Thinking))
	g.Expect(shown.Transcript).To(gomega.HaveLen(2))
	g.Expect(shown.Transcript[1].Image).To(gomega.BeTrue())
	g.Expect(shown.Transcript[1].Text).To(gomega.Equal("what is it?"))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

// The program chooses how much softer the agent is while the user may be interrupting it.
func TestTheDepthOfDuckingIsAnOption(t *testing.T) {
	for by, gain := range map[float64]float64{0: 0.1, 1: 0.8913, 12: 0.2512, 20: 0.1, 60: 0.001} {
		g := gomega.NewWithT(t)
		server := sdktest.NewServer(t)
		session := server.Connect(sdk.Options{DuckBy: by})
		server.Begin("r").Say("One, two, three")
		server.Heard(48_000)
		server.Tell(sdk.SpeechOnset{})
		g.Expect(server.Gain()).To(gomega.BeNumerically("~", gain, 0.0001), "ducked by %v dB", by)
		g.Expect(session.Close(t.Context())).To(gomega.Succeed())
	}
	for _, wrong := range []float64{-1, 0.5, 60.5, math.NaN(), math.Inf(1)} {
		g := gomega.NewWithT(t)
		_, err := sdk.New(sdk.Options{Dialer: sdktest.NewServer(t), DuckBy: wrong})
		g.Expect(err).To(gomega.MatchError(sdk.ErrInvalid))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("1 to 60 dB")))
	}
}

// A closed microphone interrupts nobody, whatever the detector hears.
func TestAMutedUserInterruptsNobody(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := server.Connect(sdk.Options{Muted: true})
	server.Begin("r").Say("One, two, three")
	server.Heard(48_000)
	server.Tell(sdk.SpeechOnset{})
	g.Expect(session.Snapshot().Interruptions.Candidates).To(gomega.BeZero())
	session.SetMuted(false)
	server.Tell(sdk.SpeechOnset{})
	g.Expect(session.Snapshot().Interruptions.Candidates).To(gomega.Equal(1))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}
