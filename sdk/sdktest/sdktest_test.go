package sdktest_test

// The server in memory and its clock, used as an application's test uses them.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// failure is a TB that remembers why it failed.
type failure struct{ said string }

func (*failure) Helper() {}

func (f *failure) Fatalf(format string, args ...any) {
	if f.said == "" {
		f.said = fmt.Sprintf(format, args...)
	}
}

// connect makes a session with a call to s.
func connect(t *testing.T, s *sdktest.Server, o sdk.Options) *sdk.Session {
	t.Helper()
	session := s.Connect(o)
	t.Cleanup(func() { gomega.NewWithT(t).Expect(session.Close(context.Background())).To(gomega.Succeed()) })
	return session
}

func TestAWholeCall(t *testing.T) {
	for name, sound := range map[string]sdktest.Sound{"tracks": sdktest.Tracks, "messages": sdktest.Messages, "bare": sdktest.Bare} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			server := sdktest.NewServer(t)
			server.Sound = sound
			session := connect(t, server, sdk.Options{})
			g.Expect(server.Calls()).To(gomega.HaveLen(1))
			sdktest.AwaitState(t, session, sdk.Listening)

			server.Speak("item_1", "hello")
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Thinking))
			reply := server.Begin("resp_1")
			reply.Say("Hello to you.")
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.AgentSpeaking))
			reply.End()
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Listening))

			g.Expect(session.SendText("and again")).To(gomega.Succeed())
			server.Expect("conversation.item.create")
			server.Expect("response.create")
			reply = server.Begin("resp_2")
			reply.Say("One two three four.")
			server.Heard(600)
			reply.Interrupt("item_2", 600*time.Millisecond, "One two")
			shown := session.Snapshot()
			g.Expect(shown.State).To(gomega.Equal(sdk.UserSpeaking))
			g.Expect(shown.Transcript).To(gomega.HaveLen(5))
			g.Expect(shown.Transcript[3].Text).To(gomega.Equal("One two"))
			g.Expect(shown.Transcript[3].HeardMS).To(gomega.Equal(600))
		})
	}
}

// With Messages the client plays the sound, and reports how far it was played.
func TestThePlayedPositionIsReported(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.Sound = sdktest.Messages
	session := connect(t, server, sdk.Options{})
	server.Sent()
	reply := server.Begin("resp_1")
	reply.Say("one two")
	server.Heard(250)
	server.Tell(sdk.SpeechOnset{})
	g.Expect(server.Gain()).To(gomega.Equal(float32(0.1)))
	told := server.Expect("antiphon.barge_in.candidate").(*wire.AntiphonBargeInCandidate)
	g.Expect([]any{told.ItemID, told.HeardMS}).To(gomega.Equal([]any{reply.Item, 250}))
	server.Heard(410)
	server.Tell(sdk.SpeechSustained{})
	server.Send(&wire.AntiphonBargeInRejected{Candidate: told.Candidate})
	g.Expect(server.Gain()).To(gomega.Equal(float32(1)))
	g.Expect(session.Snapshot().Interruptions.RepeatedMS).To(gomega.Equal(160))
	g.Expect(session.Interrupt()).To(gomega.Succeed())
	server.Expect("response.cancel")
	cut := server.Expect("conversation.item.truncate").(*wire.ConversationItemTruncate)
	g.Expect(cut.AudioEndMS).To(gomega.Equal(250), "it was played again from there")
	server.Expect("antiphon.barge_in.heard")
}

func TestAScript(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := connect(t, server, sdk.Options{})
	g.Expect(session.SendText("hello")).To(gomega.Succeed())
	server.Run(`
		# The server does not send the answer that is due.
		expect conversation.item.create
		expect response.create
		send no event at all
		tell lost
		tell restored
		advance 16s
	`)
	g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Listening))
	g.Expect(session.Snapshot().Err).To(gomega.MatchError(sdk.ErrServerSilent))
	server.Run("tell speech-onset\ntell speech-sustained\ntell speech-ended\ntell opened\ntell unplugged\ntell ended")
	sdktest.AwaitState(t, session, sdk.Failed)
	g.Eventually(server.Closed).Should(gomega.BeTrue())
}

// The server keeps no conversation: after a broken connection a new one begins with the words of the lost one.
func TestAConnectionThatBreaks(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session := connect(t, server, sdk.Options{})
	g.Expect(session.SendText("remember me")).To(gomega.Succeed())
	server.Run("expect conversation.item.create\nexpect response.create\ntell broken")
	sdktest.AwaitState(t, session, sdk.Reconnecting)
	server.Clock.Advance(time.Second)
	g.Eventually(func() error { return session.Snapshot().Err }).Should(gomega.MatchError(sdk.ErrBegunAnew))
	server.Run("expect conversation.item.create\nexpect response.create")
	g.Expect(session.Snapshot().Transcript[0].Text).To(gomega.Equal("remember me"))
}

func TestAScriptThatCannotBePlayed(t *testing.T) {
	for script, want := range map[string]string{
		"dance":                  `line 1 of the script: "dance" is no step`,
		"\nadvance soon":         "line 2 of the script: time",
		"tell rain":              `line 1 of the script: nothing is called "rain"`,
		"expect response.cancel": "the session sent response.create instead of response.cancel",
	} {
		t.Run(script, func(t *testing.T) {
			g := gomega.NewWithT(t)
			said := &failure{}
			server := sdktest.NewServer(said)
			session := connect(t, server, sdk.Options{})
			g.Expect(session.SendText("x")).To(gomega.Succeed())
			server.Expect("conversation.item.create")
			server.Run(script)
			g.Expect(said.said).To(gomega.HavePrefix(want))
		})
	}
}

func TestACallThatIsNotTaken(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.Refuse = &sdk.RefusedError{Status: 503}
	session, err := sdk.New(sdk.Options{Dialer: server})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(session.Connect(t.Context())).To(gomega.MatchError(sdk.ErrRefused))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

func TestACallThatIsGivenUp(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.Hold = make(chan struct{})
	session, err := sdk.New(sdk.Options{Dialer: server})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(session.Connect(ctx)).To(gomega.MatchError(context.Canceled))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

func TestACallWithoutAMicrophone(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	server.MicrophoneErr = sdk.ErrPermission
	session := connect(t, server, sdk.Options{})
	g.Expect(session.Snapshot().MicErr).To(gomega.MatchError(sdk.ErrPermission))
	server.Fail(sdk.ErrOverrun)
	g.Expect(session.SendText("x")).To(gomega.Succeed())
	g.Expect(sdktest.AwaitState(t, session, sdk.Failed).Err).To(gomega.MatchError(sdk.ErrOverrun))
}

func TestRequestsOfTheSessionReachThePeer(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	g.Expect([]any{server.Gain(), server.Mutes(), server.Muted(), server.Volume(), server.Closed()}).
		To(gomega.Equal([]any{float32(1), 0, false, float32(0), false}), "no call yet")
	server.Heard(1)
	server.Tell(sdk.PeerLost{})
	server.DevicesNow = sdk.Devices{Microphones: []sdk.Device{{ID: "m"}}}
	server.PipelineNow = sdk.Pipeline{Name: "p"}
	session := connect(t, server, sdk.Options{Muted: true})
	g.Expect(server.Muted()).To(gomega.BeTrue())
	g.Expect(session.SetMicrophone(t.Context(), "m")).To(gomega.Succeed())
	g.Expect(session.SetSpeaker(t.Context(), "s")).To(gomega.Succeed())
	g.Expect(session.RefreshDevices(t.Context())).To(gomega.Succeed())
	g.Expect(session.RefreshPipeline(t.Context())).To(gomega.Succeed())
	shown := sdktest.Await(t, session, func(now sdk.Snapshot) bool { return now.Pipeline.Known })
	g.Expect([]any{shown.Microphone, shown.Speaker, shown.Devices, shown.Pipeline.Name}).
		To(gomega.Equal([]any{"m", "s", server.DevicesNow, "p"}))
}

func TestAClock(t *testing.T) {
	g := gomega.NewWithT(t)
	var c sdktest.Clock
	var rang []string
	ring := func(name string) func() {
		return func() { rang = append(rang, fmt.Sprintf("%s at %v", name, c.Now())) }
	}
	c.AfterFunc(2*time.Second, ring("second"))
	c.AfterFunc(time.Second, func() {
		ring("first")()
		c.AfterFunc(500*time.Millisecond, ring("between"))
	})
	c.AfterFunc(2*time.Second, ring("third"))
	stop := c.AfterFunc(time.Second, ring("never"))
	stop()
	stop()
	c.AfterFunc(time.Hour, ring("later"))
	c.Advance(3 * time.Second)
	g.Expect(rang).To(gomega.Equal([]string{"first at 1s", "between at 1.5s", "second at 2s", "third at 2s"}))
	g.Expect(c.Now()).To(gomega.Equal(3 * time.Second))
	g.Expect(c.Waiting()).To(gomega.Equal(1))
}
