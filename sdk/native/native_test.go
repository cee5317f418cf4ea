//go:build !js

package native

// Calls of the native client over both transports, with a server in the test.

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/rtp"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rtpPacket(number uint16, stamp uint32, payload []byte) *rtp.Packet {
	return &rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 111, SequenceNumber: number, Timestamp: stamp}, Payload: payload}
}

// client is a session with its microphone and its speaker.
type client struct {
	*sdk.Session
	mic     *Microphone
	speaker *Speaker
}

// transports returns the two ways to place a call.
func transports() map[string]func(*testing.T, Options) sdk.Dialer {
	return map[string]func(*testing.T, Options) sdk.Dialer{
		"webrtc": func(t *testing.T, o Options) sdk.Dialer {
			o.Loopback = true
			d, err := NewDialer(o)
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		"websocket": func(_ *testing.T, o Options) sdk.Dialer { return NewSocketDialer(o) },
	}
}

func newClient(t *testing.T, url, key string, dialer func(*testing.T, Options) sdk.Dialer, o sdk.Options) *client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client{mic: &Microphone{}, speaker: NewSpeaker(2 * time.Second)}
	o.Dialer = dialer(t, Options{
		URL: url, Key: key, Client: &http.Client{Transport: transport}, Microphone: c.mic, Speaker: c.speaker,
	})
	var err error
	if c.Session, err = sdk.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func inTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// await waits for a snapshot that fits.
func (c *client) await(ctx context.Context, fits func(sdk.Snapshot) bool) error {
	met := make(chan struct{}, 1)
	cancel := c.Subscribe(func(s sdk.Snapshot) {
		if fits(s) {
			select {
			case met <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	select {
	case <-met:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Snapshot().Err, errors.New("state "+c.Snapshot().State.String()))
	}
}

func is(want sdk.State) func(sdk.Snapshot) bool {
	return func(s sdk.Snapshot) bool { return s.State == want }
}

// hears expects that the speaker gets sound of length want, with a tolerance for the codec. A busy machine may pause within the sound,
// so silence alone does not mean its end.
func hears(ctx context.Context, g *gomega.WithT, speaker *Speaker, want time.Duration) {
	const edge = 80 * time.Millisecond
	sounded := func() time.Duration {
		_, d := speaker.Sounded()
		return d
	}
	g.Eventually(ctx, sounded).Should(gomega.BeNumerically(">=", want-edge))
	g.Expect(speaker.AwaitSilence(ctx, 200*time.Millisecond)).To(gomega.Succeed())
	g.Expect(sounded()).To(gomega.BeNumerically("<=", want+edge))
}

func TestACallSpeaksAndHears(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{Model: "a b"})
			g.Expect(c.Connect(ctx)).To(gomega.Succeed())
			g.Expect(c.Snapshot().SessionID).To(gomega.Equal("sess_test"))

			said, err := c.mic.Speak(tone(300*time.Millisecond, 300))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			<-said
			hears(ctx, g, server.speaker, 300*time.Millisecond)

			g.Expect(c.SendText("sing")).To(gomega.Succeed())
			g.Expect(c.await(ctx, is(sdk.AgentSpeaking))).To(gomega.Succeed())
			g.Expect(c.await(ctx, is(sdk.Listening))).To(gomega.Succeed())
			hears(ctx, g, c.speaker, 500*time.Millisecond)
			transcript := c.Snapshot().Transcript
			g.Expect(transcript[len(transcript)-1].Text).To(gomega.Equal("tone"))
			turn := c.Snapshot().LastTurn
			g.Expect(turn.PlaybackEnd).To(gomega.BeNumerically(">", turn.FirstSound), "the speaker says when it is silent; package sdk tests the times")
			g.Expect(server.heard()).To(gomega.HaveExactElements(
				"antiphon.hello", "conversation.item.create", "response.create"))
		})
	}
}

func TestAMutedMicrophoneIsSilent(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{Muted: true})
			g.Expect(c.Connect(ctx)).To(gomega.Succeed())
			said, err := c.mic.Speak(tone(200*time.Millisecond, 300))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			<-said
			c.SetMuted(false)
			_, err = c.mic.Speak(tone(100*time.Millisecond, 300))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(server.speaker.AwaitSound(ctx)).To(gomega.Succeed())
			g.Expect(server.speaker.AwaitSilence(ctx, 200*time.Millisecond)).To(gomega.Succeed())
			_, heard := server.speaker.Sounded()
			g.Expect(heard).To(gomega.BeNumerically("<", 190*time.Millisecond))
		})
	}
}

func TestACallWithoutAMicrophoneHears(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{NoMicrophone: true})
			g.Expect(c.Connect(ctx)).To(gomega.Succeed())
			g.Expect(c.Snapshot().TextOnly).To(gomega.BeTrue())
			g.Expect(c.SendText("sing")).To(gomega.Succeed())
			g.Expect(c.speaker.AwaitSound(ctx)).To(gomega.Succeed())
			g.Expect(server.speaker.Frames()).To(gomega.BeEmpty())
		})
	}
}

func TestAServerThatEndsTheCallIsGone(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{})
			g.Expect(c.Connect(ctx)).To(gomega.Succeed())
			server.hangUp()
			g.Expect(c.await(ctx, is(sdk.Failed))).To(gomega.Succeed())
			g.Expect(c.Snapshot().Err).To(gomega.MatchError(sdk.ErrServerGone))
		})
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "wrong", dialer, sdk.Options{})
			err := c.Connect(ctx)
			g.Expect(err).To(gomega.MatchError(sdk.ErrRefused))
			var refused *sdk.RefusedError
			g.Expect(errors.As(err, &refused)).To(gomega.BeTrue())
			g.Expect(refused.Status).To(gomega.Equal(http.StatusUnauthorized))
			g.Expect(refused.Message).To(gomega.Equal("the key is wrong"))
			g.Expect(c.RefreshPipeline(ctx)).To(gomega.MatchError(sdk.ErrRefused))
		})
	}
}

func TestNoServerAtAll(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			server.Close()
			c := newClient(t, server.URL, "right", dialer, sdk.Options{})
			g.Expect(c.Connect(ctx)).To(gomega.MatchError(sdk.ErrServerGone))
			g.Expect(c.Snapshot().State).To(gomega.Equal(sdk.Failed))
		})
	}
}

// A call is lost if the server says so, or if its process has ended.
func TestTheServerIsAskedForTheCall(t *testing.T) {
	g := gomega.NewWithT(t)
	var status int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Expect(r.URL.Path).To(gomega.Equal("/v1/realtime/calls/rtc_1/restart"))
		g.Expect(r.ContentLength).To(gomega.BeZero())
		w.WriteHeader(status)
	}))
	p := &peer{call: &call{antiphon: true}, location: "/v1/realtime/calls/rtc_1", server: newEndpoint(server.URL, "", server.Client())}
	for of, lost := range map[int]bool{http.StatusBadRequest: false, http.StatusNotFound: true, http.StatusConflict: false, http.StatusBadGateway: false} {
		status = of
		g.Expect(p.Lost(t.Context())).To(gomega.Equal(lost), "status %d", status)
	}
	p.antiphon = false
	status = http.StatusNotFound
	g.Expect(p.Lost(t.Context())).To(gomega.BeFalse(), "a server that is no Antiphon")
	p.antiphon = true
	server.Close()
	g.Expect(p.Lost(t.Context())).To(gomega.BeTrue())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(p.Lost(ended)).To(gomega.BeFalse())
}

func TestConnectIsGivenUpWithItsContext(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g.Expect(c.Connect(ctx)).To(gomega.MatchError(context.Canceled))
			g.Expect(c.Snapshot().State).To(gomega.Equal(sdk.Disconnected))
			g.Expect(c.Connect(inTime(t))).To(gomega.Succeed())
		})
	}
}

func TestThePipelineIsAskedFor(t *testing.T) {
	for name, dialer := range transports() {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), inTime(t)
			server := newTestServer(t)
			c := newClient(t, server.URL, "right", dialer, sdk.Options{})
			g.Expect(c.RefreshPipeline(ctx)).To(gomega.Succeed())
			g.Expect(c.await(ctx, func(now sdk.Snapshot) bool { return now.Pipeline.Known })).To(gomega.Succeed())
			g.Expect(c.Snapshot().Pipeline).To(gomega.Equal(sdk.Pipeline{
				Known: true, Name: "test", Components: []sdk.Component{{Stage: "model", Name: "tone", State: "ready"}},
			}))
		})
	}
}

// Over a WebSocket the client plays the sound. So the client stops it, and reports how far it was played.
func TestAnInterruptionOverAWebSocketReportsThePlayedPosition(t *testing.T) {
	g, ctx := gomega.NewWithT(t), inTime(t)
	server := newTestServer(t)
	c := newClient(t, server.URL, "right", transports()["websocket"], sdk.Options{})
	g.Expect(c.Connect(ctx)).To(gomega.Succeed())
	g.Expect(c.SendText("sing")).To(gomega.Succeed())
	g.Expect(c.speaker.AwaitSound(ctx)).To(gomega.Succeed())
	voice := "x"
	g.Expect(c.Update(sdk.Patch{Voice: &voice})).To(gomega.Succeed()) // this makes the test server send speech_started
	g.Expect(c.await(ctx, is(sdk.UserSpeaking))).To(gomega.Succeed())
	g.Eventually(server.last).Should(gomega.BeAssignableToTypeOf(&wire.ConversationItemTruncate{}))
	truncate := server.last().(*wire.ConversationItemTruncate)
	_, sounded := c.speaker.Sounded()
	g.Expect(truncate.AudioEndMS).To(gomega.BeNumerically(">", 0))
	g.Expect(truncate.AudioEndMS).To(gomega.BeNumerically("<=", sounded.Milliseconds()+20))
}

// The server keeps no conversation. After a broken connection, the client gives it the words of the lost conversation.
func TestABrokenConnectionBeginsANewConversation(t *testing.T) {
	g, ctx := gomega.NewWithT(t), inTime(t)
	server := newTestServer(t)
	c := newClient(t, server.URL, "right", transports()["websocket"], sdk.Options{})
	g.Expect(c.Connect(ctx)).To(gomega.Succeed())
	g.Expect(c.SendText("sing")).To(gomega.Succeed())
	g.Expect(c.await(ctx, is(sdk.AgentSpeaking))).To(gomega.Succeed())
	g.Expect(c.await(ctx, is(sdk.Listening))).To(gomega.Succeed())
	server.tear()
	g.Expect(c.await(ctx, is(sdk.Reconnecting))).To(gomega.Succeed())
	g.Expect(c.await(ctx, func(s sdk.Snapshot) bool { return errors.Is(s.Err, sdk.ErrBegunAnew) })).To(gomega.Succeed())
	g.Eventually(server.heard).Should(gomega.HaveExactElements(
		"antiphon.hello", "conversation.item.create", "response.create",
		"antiphon.hello", "conversation.item.create", "conversation.item.create"))
	told, _ := server.last().(*wire.ConversationItemCreate)
	g.Expect(told.Item.Role).To(gomega.Equal("assistant"))
	g.Expect(told.Item.Content[0].Text).To(gomega.Equal("tone"))
	g.Expect(c.Snapshot().State).To(gomega.Equal(sdk.Listening))
}
