package sdk_test

// Servers and platforms that leave the client waiting: the session goes on after a deadline in each case.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// stuck is one way in which a server, a browser or a device leaves the client waiting.
type stuck struct {
	name string
	// prepare runs before the call; may be nil.
	prepare func(*sdktest.Server)
	// act lets something go wrong in a connected call.
	act func(*gomega.WithT, *sdktest.Server, *sdk.Session)
	// within is the time after which the session no longer waits. It shows state then, and Snapshot.Err matches err.
	within time.Duration
	state  sdk.State
	err    types.GomegaMatcher
}

// outOfOrder is the name of the server that names a response only after its end: a line of that response has no end.
const outOfOrder = "sends events out of order"

var (
	fine   = gomega.BeNil()
	silent = gomega.MatchError(sdk.ErrServerSilent)
)

func text(g *gomega.WithT, session *sdk.Session) {
	g.Expect(session.SendText("hello")).To(gomega.Succeed())
}

// candidate begins an answer and reports a speech onset over it.
func candidate(server *sdktest.Server) *sdktest.Reply {
	r := server.Begin("resp_1")
	r.Say("One two three four five six")
	server.Heard(4800)
	server.Tell(sdk.SpeechOnset{})
	return r
}

var theServer = []stuck{
	{
		name: "never answers a message", within: 15 * time.Second, state: sdk.Listening, err: silent,
		act: func(g *gomega.WithT, _ *sdktest.Server, session *sdk.Session) {
			text(g, session)
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Thinking))
			g.Expect(session.Snapshot().Confirmed).To(gomega.Equal(sdk.Listening))
		},
	},
	{
		name: "never takes a commit", within: 5 * time.Second, state: sdk.Listening, err: silent,
		act: func(g *gomega.WithT, _ *sdktest.Server, session *sdk.Session) {
			g.Expect(session.Commit()).To(gomega.Succeed())
		},
	},
	{
		name: "takes a turn and never answers it", within: 15 * time.Second, state: sdk.Listening, err: silent,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) { server.Speak("u1", "hello") },
	},
	{
		name: "never commits a turn", within: 5 * time.Second, state: sdk.Listening, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: "u1"}, &wire.InputAudioBufferSpeechStopped{ItemID: "u1"})
		},
	},
	{
		name: "never ends a turn that nobody speaks", within: 15 * time.Second, state: sdk.Listening, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: "u1"})
			quietFor(server, 14*time.Second)
		},
	},
	{
		name: "never ends an answer that nobody hears", within: 66 * time.Second, state: sdk.Listening, err: silent,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Begin("resp_1").Say("one two")
			quietFor(server, 65*time.Second)
		},
	},
	{
		name: "never says that an answer was played", within: 6 * time.Second, state: sdk.Listening, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Begin("resp_1").Made()
			quietFor(server, 5*time.Second)
		},
	},
	{
		name: "answers late", within: 0, state: sdk.Listening, err: fine,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			text(g, session)
			server.Clock.Advance(20 * time.Second)
			r := server.Begin("resp_1")
			r.Say("here I am")
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.AgentSpeaking))
			r.End()
			g.Expect(session.Snapshot().Transcript).To(gomega.ContainElement(gomega.HaveField("Text", "here I am")))
		},
	},
	{
		name: outOfOrder, within: 15 * time.Second, state: sdk.Listening, err: gomega.Or(fine, silent),
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Send(
				&wire.ResponseDone{Response: wire.Response{ID: "r1", Status: "completed"}},
				&wire.ResponseOutputAudioTranscriptDelta{ResponseID: "r1", ItemID: "a1", Delta: "x"},
				&wire.OutputAudioBufferStopped{ResponseID: "r1"},
				&wire.ConversationItemTruncated{ItemID: "a9", AudioEndMS: 5},
				&wire.InputAudioBufferSpeechStopped{ItemID: "u1"},
				&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: "u1", Transcript: "hello"},
				&wire.InputAudioBufferCommitted{ItemID: "u1"},
				&wire.InputAudioBufferSpeechStarted{ItemID: "u1"},
				&wire.AntiphonBargeInRejected{Candidate: 3},
			)
			quietFor(server, 14*time.Second)
		},
	},
	{name: "sends every event twice", within: 0, state: sdk.Listening, err: fine, act: everythingTwice},
	{
		name: "sends what is no event", within: 0, state: sdk.Listening, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			for _, noise := range []string{
				"", "null", "[]", "7", "{}", `{"type":7}`, `{"type":"response.created"}`, `{"type":"response.created","event_id":"e","response":7}`,
				`{"type":"tea.ready","event_id":"e"}`, "\xff\xfe", `{"type":"error","event_id":"e"}`,
			} {
				server.SendText(noise)
			}
		},
	},
	{
		name: "sends events of an unknown response", within: 6 * time.Second, state: sdk.Listening, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Send(
				&wire.ResponseOutputAudioTranscriptDelta{ResponseID: "r9", ItemID: "a9", Delta: "x"},
				&wire.ResponseOutputItemDone{ResponseID: "r9", Item: wire.Item{ID: "a9", Type: wire.ItemMessage, Role: "assistant"}},
				&wire.OutputAudioBufferStarted{ResponseID: "r9"},
				&wire.ResponseDone{Response: wire.Response{ID: "r9", Status: "completed"}},
				&wire.AntiphonAck{Acknowledges: "nothing", RTPTimestamp: 5},
			)
			quietFor(server, 5*time.Second)
		},
	},
	{
		name: "closes in the middle of an event", within: 60 * time.Second, state: sdk.Failed, err: gomega.MatchError(sdk.ErrServerGone),
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Begin("resp_1")
			server.SendText(`{"type":"response.output_audio_transcript.delta","delta":"on`)
			server.Tell(sdk.PeerEnded{})
		},
	},
	{
		name: "never ends a response that the client has cancelled", within: 70 * time.Second, state: sdk.Listening, err: silent,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			server.Begin("resp_1")
			g.Expect(session.Interrupt()).To(gomega.Succeed())
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Listening))
			quietFor(server, 6*time.Second)
			g.Expect(session.Snapshot().State).NotTo(gomega.Equal(sdk.Listening), "the prediction is taken back")
			quietFor(server, 61*time.Second)
		},
	},
	{
		name: "never says what was heard", within: 3 * time.Second, state: sdk.Listening, err: fine,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			r := server.Begin("resp_1")
			r.Say("One two three four")
			r.End()
			server.Send(&wire.ConversationItemTruncated{ItemID: r.Item, AudioEndMS: 500})
			g.Expect(session.Snapshot().Transcript[0].Live).To(gomega.BeTrue())
		},
	},
	{
		name: "never answers a candidate", within: 1500 * time.Millisecond, state: sdk.AgentSpeaking, err: fine,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			candidate(server)
			server.Tell(sdk.SpeechSustained{})
			g.Expect(session.Snapshot().Interrupting).To(gomega.BeTrue())
			g.Expect(server.Gain()).To(gomega.Equal(float32(0)))
		},
	},
	{
		name: "holds and never decides", within: 1500 * time.Millisecond, state: sdk.AgentSpeaking, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			candidate(server)
			acknowledge(server)
			server.Heard(9600)
		},
	},
	{
		name: "holds, and its silence never plays", within: 1500 * time.Millisecond, state: sdk.AgentSpeaking, err: fine,
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			candidate(server)
			acknowledge(server)
		},
	},
	{
		name: "confirms, and says nothing more", within: 80 * time.Second, state: sdk.Listening, err: gomega.Or(fine, silent),
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			candidate(server)
			server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: "u1"})
			g.Expect(server.Gain()).To(gomega.Equal(float32(1)))
			quietFor(server, 79*time.Second)
		},
	},
	{
		name: "refuses every request", within: 0, state: sdk.Listening, err: gomega.Not(fine),
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			server.Sent()
			text(g, session)
			g.Expect(session.Commit()).To(gomega.Succeed())
			for _, e := range server.Sent() {
				id := e.ID()
				server.Send(&wire.ErrorEvent{Error: wire.Error{Type: "invalid_request_error", Code: "no", Message: "no", EventID: &id}})
			}
		},
	},
}

var thePlatform = []stuck{
	{
		name: "the microphone is forbidden in mid-call", within: 15 * time.Second, state: sdk.Listening, err: fine,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: "u1"})
			server.Tell(sdk.MicrophoneFailed{Err: sdk.ErrPermission})
			g.Expect(session.Snapshot().TextOnly).To(gomega.BeTrue())
			g.Expect(session.Snapshot().MicErr).To(gomega.MatchError(sdk.ErrPermission))
			quietFor(server, 14*time.Second)
		},
	},
	{
		name: "the microphone is unplugged during a barge-in candidate", within: 1500 * time.Millisecond, state: sdk.AgentSpeaking, err: fine,
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			candidate(server)
			server.Tell(sdk.MicrophoneFailed{Err: sdk.ErrNoMicrophone})
			g.Expect(session.Snapshot().MicErr).To(gomega.MatchError(sdk.ErrNoMicrophone))
		},
	},
	{
		name: "the page is hidden: no levels, and timers come late", within: 0, state: sdk.Listening, err: gomega.Or(fine, silent),
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			r := candidate(server)
			server.Clock.Advance(10 * time.Minute)
			g.Expect(server.Gain()).To(gomega.Equal(float32(1)))
			r.End()
			text(g, session)
			server.Clock.Advance(10 * time.Minute)
		},
	},
	{
		name: "the page is hidden, and the server never ends anything", within: 10 * time.Minute, state: sdk.Listening, err: gomega.Or(fine, silent),
		act: func(_ *gomega.WithT, server *sdktest.Server, _ *sdk.Session) {
			server.Begin("resp_1")
			server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: "u1"})
		},
	},
	{
		name: "the connection is lost and never comes back", within: 90 * time.Second, state: sdk.Failed, err: gomega.MatchError(sdk.ErrServerGone),
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			candidate(server)
			server.Refuse = &sdk.Error{Kind: sdk.ErrServerGone}
			server.Tell(sdk.PeerLost{})
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Reconnecting))
			server.Clock.Advance(2 * time.Second)
			g.Expect(server.Gain()).To(gomega.Equal(float32(1)))
		},
	},
	{
		name: "the connection takes nothing any more", within: 0, state: sdk.Failed, err: gomega.MatchError(sdk.ErrOverrun),
		act: func(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
			server.Fail(sdk.ErrOverrun)
			text(g, session)
		},
	},
}

// quietFor lets d pass. The levels of both sides are reported, and they are silence.
func quietFor(server *sdktest.Server, d time.Duration) {
	for range d / (500 * time.Millisecond) {
		server.Clock.Advance(500 * time.Millisecond)
		server.Tell(sdk.LevelsMeasured{})
	}
}

// acknowledge answers the candidate that was sent last.
func acknowledge(server *sdktest.Server) {
	for _, e := range server.Sent() {
		if e.Type() == "antiphon.barge_in.candidate" {
			server.Send(&wire.AntiphonAck{Acknowledges: e.ID(), RTPTimestamp: 9600})
		}
	}
}

func everythingTwice(g *gomega.WithT, server *sdktest.Server, session *sdk.Session) {
	conversation := "c"
	item := wire.Item{ID: "a1", Type: wire.ItemMessage, Role: "assistant"}
	for _, e := range []wire.ServerEvent{
		&wire.SessionCreated{EventID: "e", Session: server.Session},
		&wire.InputAudioBufferSpeechStarted{ItemID: "u1"},
		&wire.InputAudioBufferSpeechStopped{ItemID: "u1"},
		&wire.InputAudioBufferCommitted{ItemID: "u1"},
		&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: "u1", Transcript: "hello"},
		&wire.ResponseCreated{Response: wire.Response{ID: "r1", ConversationID: &conversation}},
		&wire.ResponseOutputItemAdded{ResponseID: "r1", Item: item},
		&wire.OutputAudioBufferStarted{ResponseID: "r1"},
		&wire.ResponseOutputAudioTranscriptDone{ResponseID: "r1", ItemID: "a1", Transcript: "hi"},
		&wire.ResponseOutputItemDone{ResponseID: "r1", Item: item},
		&wire.ResponseDone{Response: wire.Response{ID: "r1", Status: "completed", ConversationID: &conversation}},
		&wire.OutputAudioBufferStopped{ResponseID: "r1"},
	} {
		server.Send(e)
		server.Send(e)
	}
	g.Expect(session.Snapshot().Transcript).To(gomega.HaveLen(2))
}

// TestNeverStuck: whatever a server or a platform does, the client shows a clear state within a known time.
func TestNeverStuck(t *testing.T) {
	for name, sound := range map[string]sdktest.Sound{"tracks": sdktest.Tracks, "messages": sdktest.Messages} {
		for _, row := range append(append([]stuck(nil), theServer...), thePlatform...) {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				g := gomega.NewWithT(t)
				server := sdktest.NewServer(t)
				server.Sound = sound
				if row.prepare != nil {
					row.prepare(server)
				}
				session := server.Connect(sdk.Options{})
				row.act(g, server, session)
				server.Clock.Advance(row.within)
				if row.state == sdk.Failed {
					sdktest.AwaitState(t, session, row.state)
				}
				shown := session.Snapshot()
				g.Expect(shown.State).To(gomega.Equal(row.state))
				g.Expect(shown.Confirmed).To(gomega.Equal(row.state))
				g.Expect(shown.Predicted).To(gomega.BeFalse(), "nothing is expected any more")
				g.Expect(shown.Interrupting).To(gomega.BeFalse())
				g.Expect(shown.Err).To(row.err)
				if row.state == sdk.Listening && row.name != outOfOrder {
					g.Expect(shown.Transcript).NotTo(gomega.ContainElement(gomega.HaveField("Live", true)), "no line goes on")
				}
				g.Expect(server.Gain()).To(gomega.Equal(float32(1)))
				g.Expect(session.Close(t.Context())).To(gomega.Succeed())
				g.Expect(server.Clock.Waiting()).To(gomega.BeNumerically("<=", 1), "no timer is left but one that does nothing")
			})
		}
	}
}

// TestNeverStuckConnecting: the same for a call that is not connected yet.
func TestNeverStuckConnecting(t *testing.T) {
	for name, prepare := range map[string]func(*sdktest.Server){
		"a server that takes no call":    func(s *sdktest.Server) { s.Hold = make(chan struct{}) },
		"a server that makes no session": func(s *sdktest.Server) { s.Silent = true },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			server := sdktest.NewServer(t)
			prepare(server)
			session, err := sdk.New(sdk.Options{Dialer: server, Clock: server.Clock})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			connected := make(chan error, 1)
			go func() { connected <- session.Connect(context.Background()) }()
			sdktest.AwaitState(t, session, sdk.Connecting)
			g.Eventually(server.Clock.Waiting).Should(gomega.Equal(1))
			server.Clock.Advance(20 * time.Second)
			g.Expect(<-connected).To(silent)
			g.Expect(session.Snapshot().State).To(gomega.Equal(sdk.Failed))
			g.Expect(session.Close(t.Context())).To(gomega.Succeed())
		})
	}
}
