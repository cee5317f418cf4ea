package sdk

// Lost connections: ICE restarts, redials, and the end of a call that does not come back.

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestALostConnectionIsRestarted(t *testing.T) {
	bubble(t, "after two seconds, and not before", func(t *testing.T) {
		var l *line
		var asked atomic.Int32
		p := kept
		p.restart = func(context.Context) error {
			asked.Add(1)
			l.x.peers[0].sink(PeerRestored{}) // nobody can tell whether the old or the new network path carries it
			return nil
		}
		l = connectedBy(t, Options{}, p)
		l.x.peers[0].sink(PeerLost{})
		l.wait(time.Second)
		l.x.peers[0].sink(PeerRestored{})
		l.wait(5 * time.Second)
		l.g.Expect(asked.Load()).To(gomega.BeZero(), "it came back by itself")
		l.x.peers[0].sink(PeerLost{})
		l.wait(restartAfter - time.Millisecond)
		l.g.Expect(asked.Load()).To(gomega.BeZero())
		l.wait(2 * time.Millisecond)
		l.g.Expect(asked.Load()).To(gomega.Equal(int32(1)))
		l.g.Expect(l.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening, Reconnecting, Listening, Reconnecting, Listening}))
		l.wait(time.Hour)
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
		l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
	})

	bubble(t, "not where it would cost the conversation, which the server does not keep", func(t *testing.T) {
		var asked atomic.Int32
		l := connectedBy(t, Options{}, plan{restart: func(context.Context) error { asked.Add(1); return nil }})
		l.x.peers[0].sink(PeerLost{})
		l.wait(restartAfter + time.Second)
		l.g.Expect(asked.Load()).To(gomega.BeZero())
		l.x.peers[0].sink(PeerRestored{})
		l.wait(time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})

	bubble(t, "the client has moved to another address: nothing is waited for", func(t *testing.T) {
		var asked atomic.Int32
		p := kept
		p.restart = func(context.Context) error { asked.Add(1); return nil }
		l := connectedBy(t, Options{}, p)
		l.x.peers[0].sink(PeerLost{Moved: true})
		l.wait(time.Millisecond)
		l.g.Expect(asked.Load()).To(gomega.Equal(int32(1)))
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

// TestARestartThatFails: another connection takes the place of the lost one, unless the server knows no restart at all.
func TestARestartThatFails(t *testing.T) {
	for name, restart := range map[string]func(context.Context) error{
		"the server is gone: the next call is placed at once": func(context.Context) error { return ErrServerGone },
		"it is not answered": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"the call has ended there": func(context.Context) error {
			return &RefusedError{Status: 404}
		},
	} {
		bubble(t, name, func(t *testing.T) {
			first := kept
			first.restart = restart
			l := connectedBy(t, Options{}, first, plan{token: "T", resumed: true})
			l.x.peers[0].sink(message(&wire.RateLimitsUpdated{EventID: "last"}))
			l.x.peers[0].sink(PeerLost{})
			l.wait(restartAfter + restartTime + time.Second)
			l.g.Expect(l.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening, Reconnecting, Listening}))
			l.g.Expect(l.x.dialed[1].Resume).To(gomega.Equal(Resume{Token: "T", After: "last"}))
			l.g.Expect(l.x.dialed[1].From).NotTo(gomega.BeNil())
			l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		})
	}

	bubble(t, "the server knows no restart: it comes back by itself, or not", func(t *testing.T) {
		p := kept
		p.restart = func(context.Context) error { return ErrUnavailable }
		l := connectedBy(t, Options{}, p)
		l.x.peers[0].sink(PeerLost{})
		l.wait(29 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.wait(2 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone))
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
	})
}

// TestALostConnectionIsGivenUp: a wait for the connection ends when the server is gone, or when the call is hung up.
func TestALostConnectionIsGivenUp(t *testing.T) {
	bubble(t, "a server that is gone is shown within five seconds", func(t *testing.T) {
		p := kept
		p.restart = func(context.Context) error {
			<-time.After(3 * time.Second) // as long as Restart may take
			return context.DeadlineExceeded
		}
		l := connectedBy(t, Options{}, p, plan{err: errTorn})
		l.x.peers[0].sink(PeerLost{})
		l.wait(5*time.Second + time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone))
	})

	bubble(t, "a call that is hung up meanwhile", func(t *testing.T) {
		p := kept
		p.restart = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		l := connectedBy(t, Options{}, p)
		l.x.peers[0].sink(PeerLost{})
		l.wait(restartAfter + time.Second)
		l.g.Expect(l.Close(t.Context())).To(gomega.Succeed())
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Disconnected))
	})
}

func TestABrokenConnectionIsReplaced(t *testing.T) {
	bubble(t, "by one that goes on with the conversation", func(t *testing.T) {
		missed := message(&wire.ResponseDone{EventID: "m2", Response: wire.Response{ID: "r1", Status: "completed"}})
		l := connectedBy(t, Options{}, kept, plan{token: "T", resumed: true, seen: "client_1", tells: []PeerEvent{missed}})
		first := l.x.peers[0]
		first.sink(message(&wire.ResponseCreated{EventID: "m1", Response: wire.Response{ID: "r1", Status: "in_progress"}}))
		l.g.Expect(l.SendText("before")).To(gomega.Succeed())
		first.sink(PeerBroken{Err: errTorn})
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.g.Expect(l.SendText("meanwhile")).To(gomega.Succeed())
		l.g.Expect(l.Commit()).To(gomega.MatchError(ErrReconnecting))
		first.sink(message(&wire.ResponseCreated{EventID: "late"}))
		l.wait(250 * time.Millisecond)
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(2))
		l.g.Expect(l.x.dialed[1].Resume.Token).To(gomega.Equal("T"))
		l.g.Expect(first.isClosed()).To(gomega.BeTrue())

		sent := l.x.peers[1].got()
		// The server took antiphon.hello, and nothing that the session sent after it.
		l.g.Expect(sent[:2]).To(gomega.Equal([]string{"client_2 session.update", "client_3 response.cancel"}))
		l.g.Expect(strings.Join(sent, ", ")).To(gomega.MatchRegexp(`user: before.*response.create.*user: meanwhile.*response.create`))
		l.g.Expect(sent).NotTo(gomega.ContainElement(gomega.ContainSubstring("antiphon.hello")))
		now := l.Snapshot()
		l.g.Expect(now.SessionID).To(gomega.Equal("sess_1"))
		l.g.Expect(now.Transcript).To(gomega.HaveLen(2))
		l.g.Expect(now.Err).NotTo(gomega.HaveOccurred())
	})

	bubble(t, "with growing pauses until the server is there again", func(t *testing.T) {
		gone := plan{err: errTorn}
		l := connectedBy(t, Options{Limits: Limits{Lost: time.Minute}}, kept, gone, gone, gone, gone, gone, gone, gone, gone, plan{token: "T", resumed: true})
		l.x.peers[0].sink(PeerBroken{})
		l.wait(8 * time.Second)
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone), "it is shown what is in the way")
		l.wait(20 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		pause, random := 250*time.Millisecond, false
		for i := 1; i < len(l.x.at); i++ {
			took := l.x.at[i] - l.x.at[i-1]
			l.g.Expect(took).To(gomega.And(gomega.BeNumerically(">=", pause/2), gomega.BeNumerically("<=", pause)))
			random = random || took != pause
			pause = min(2*pause, 5*time.Second)
		}
		l.g.Expect(random).To(gomega.BeTrue(), "not all clients of a server dial at once")
	})

	bubble(t, "and again when the new one breaks too", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept,
			plan{token: "T", resumed: true, mute: true, tells: nil}, plan{token: "T", resumed: true})
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.x.peers[1].sink(PeerBroken{Err: errTorn})
		l.wait(time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		l.g.Expect(l.x.peers).To(gomega.HaveLen(3))
	})
}

// TestRedialsWaitForWhatBlocksThem: a redial that fails is tried again when the cause may pass, and ends the call otherwise.
func TestRedialsWaitForWhatBlocksThem(t *testing.T) {
	for name, second := range map[string]plan{
		"a dial that never returns":       {never: true},
		"a connection that never opens":   {token: "T", resumed: true, mute: true},
		"a server that is full":           {err: &RefusedError{Status: 429}},
		"a server that stops":             {err: &RefusedError{Status: 503}},
		"a session that is never made":    {token: "", mute: true},
		"another client is continuing it": {err: &RefusedError{Status: 409}},
		"a server that says nothing yet":  {err: &Error{Kind: ErrServerSilent}},
	} {
		bubble(t, "never stuck: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, second, plan{token: "T", resumed: true})
			l.x.peers[0].sink(PeerBroken{})
			l.wait(redialTime + 2*time.Second)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		})
		bubble(t, "never stuck, for ever: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, second)
			l.x.peers[0].sink(PeerBroken{})
			l.g.Expect(l.SendText("anybody?")).To(gomega.Succeed())
			l.wait(31 * time.Second)
			now := l.Snapshot()
			l.g.Expect(now.State).To(gomega.Equal(Failed))
			l.g.Expect(now.Err).To(gomega.HaveOccurred())
			l.g.Expect(now.Transcript[0].Failed).To(gomega.BeTrue())
			l.g.Expect(now.Transcript[0].Note).To(gomega.ContainSubstring("not delivered"))
		})
	}

	for name, row := range map[string]struct{ err, want error }{
		"the key is not valid any more":   {&RefusedError{Status: 401}, ErrRefused},
		"the browser cannot place a call": {ErrUnsupported, ErrUnsupported},
	} {
		bubble(t, "the call ends: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, plan{err: row.err})
			l.x.peers[0].sink(PeerBroken{})
			l.wait(250 * time.Millisecond)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
			l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(row.want))
		})
	}

	bubble(t, "the call ends: the server has ended it", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept)
		l.x.peers[0].sink(PeerBroken{})
		l.x.peers[0].sink(PeerEnded{})
		l.wait(time.Minute)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
	})

	bubble(t, "the call ends: it never stood", func(t *testing.T) {
		l := &line{g: gomega.NewWithT(t), x: &exchange{plans: []plan{{mute: true}}}}
		s, err := New(Options{Dialer: l.x})
		l.g.Expect(err).NotTo(gomega.HaveOccurred())
		connected := make(chan error, 1)
		go func() { connected <- s.Connect(t.Context()) }()
		synctest.Wait()
		l.x.peers[0].sink(PeerBroken{Err: errTorn})
		l.g.Expect(<-connected).To(gomega.MatchError(ErrServerGone))
		l.g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

// TestAServerThatStopsMovesItsCalls: the client dials at once, once for each such event.
func TestAServerThatStopsMovesItsCalls(t *testing.T) {
	bubble(t, "the server stops and another one goes on: the end of the connection is not that of the call", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept, plan{token: "T", resumed: true})
		l.x.peers[0].sink(Message{Data: []byte(`{"type":"antiphon.session.moving","event_id":"m"}`)})
		l.x.peers[0].sink(PeerEnded{})
		l.wait(250 * time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(2))
		l.x.peers[1].sink(PeerEnded{})
		l.wait(time.Minute)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed), "the other server has ended it")
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(2))
	})
}

// TestNothingIsLostBetweenTwoConnections: events that were not delivered are sent again, and sound is played on.
func TestNothingIsLostBetweenTwoConnections(t *testing.T) {
	bubble(t, "an event is not lost when sending it fails", func(t *testing.T) {
		broken := kept
		broken.sendErr = nil
		l := connectedBy(t, Options{}, broken, plan{token: "T", resumed: true, seen: "client_1"})
		first := l.x.peers[0]
		first.mu.Lock()
		first.sendErr = ErrServerGone
		first.mu.Unlock()
		l.g.Expect(l.SendText("hello?")).To(gomega.Succeed())
		l.wait(time.Second)
		l.g.Expect(strings.Join(l.x.peers[1].got(), ", ")).To(gomega.MatchRegexp(`user: hello\?.*response.create`))
	})

	bubble(t, "nor are those that waited when the connection breaks again", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept, plan{token: "T", resumed: true, seen: "client_2", sendErr: ErrServerGone}, plan{token: "T", resumed: true, seen: "client_2"})
		l.x.peers[0].sink(PeerBroken{})
		l.g.Expect(l.SendText("one")).To(gomega.Succeed())
		l.g.Expect(l.SendText("two")).To(gomega.Succeed())
		l.wait(5 * time.Second)
		l.g.Expect(strings.Join(l.x.peers[2].got(), ", ")).To(gomega.MatchRegexp(`user: one.*user: two`))
	})

	bubble(t, "the microphone stays closed", func(t *testing.T) {
		l := connectedBy(t, Options{Muted: true}, kept, plan{token: "T", resumed: true})
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(l.x.peers).To(gomega.HaveLen(2))
		l.g.Expect(l.x.peers[1].muted.Load()).To(gomega.BeTrue())
	})

	bubble(t, "the client plays on the sound that it has", func(t *testing.T) {
		first := kept
		first.player = true
		l := connectedBy(t, Options{}, first, plan{err: errTorn}, plan{token: "T", resumed: true, player: true})
		l.x.peers[0].sink(PlaybackStarted{ResponseID: "r"})
		l.x.peers[0].sink(PeerBroken{})
		l.wait(200 * time.Millisecond)
		l.g.Expect(l.x.peers[0].isClosed()).To(gomega.BeFalse())
		l.x.peers[0].sink(PlaybackStopped{ResponseID: "r"})
		l.wait(time.Second)
		l.g.Expect(l.x.dialed[1].From).To(gomega.BeAssignableToTypeOf(&playingPeer{}))
		l.g.Expect(l.x.peers[0].isClosed()).To(gomega.BeTrue())
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

func TestSoundThatWasNotPlayedIsTakenOverOrCut(t *testing.T) {
	for name, takes := range map[string]bool{"the new peer takes it over": true, "the response ends where it was heard": false} {
		bubble(t, name, func(t *testing.T) {
			first := kept
			first.player = true
			l := connectedBy(t, Options{}, first, plan{token: "T", resumed: true, seen: "client_1", player: true, sound: takes})
			l.x.peers[0].sink(PlaybackStarted{ResponseID: "r"})
			l.x.peers[0].sink(PeerBroken{})
			l.wait(time.Second)
			sent := strings.Join(l.x.peers[1].got(), ", ")
			if takes {
				l.g.Expect(sent).NotTo(gomega.ContainSubstring("truncate"))
				l.g.Expect(l.Snapshot().State).To(gomega.Equal(AgentSpeaking))
			} else {
				l.g.Expect(sent).To(gomega.ContainSubstring("conversation.item.truncate"))
				l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
			}
		})
	}
}

// While the connection is lost the server can say nothing, so the time for its answer begins again.
func TestALostConnectionIsNoSilence(t *testing.T) {
	bubble(t, "a message that is not answered yet", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{})
		l.g.Expect(l.SendText("hello?")).To(gomega.Succeed())
		l.wait(10 * time.Second)
		l.x.peers[0].sink(PeerLost{})
		l.wait(10 * time.Second)
		l.x.peers[0].sink(PeerRestored{})
		l.wait(15*time.Second - time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Thinking))
		l.wait(2 * time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

// A page cannot read the headers of a WebSocket, so the server sends the token with the answer to antiphon.hello.
func TestATokenFromTheAnswerToHello(t *testing.T) {
	bubble(t, "continues the conversation", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{token: "T", resumed: true})
		l.x.peers[0].sink(message(&wire.AntiphonAck{EventID: "a", Acknowledges: "client_1", Resume: "T"}))
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(l.x.dialed[1].Resume).To(gomega.Equal(Resume{Token: "T", After: "a"}))
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

// TestALateRestartIsIgnored: the result of a restart for an older loss changes nothing about the present loss.
func TestALateRestartIsIgnored(t *testing.T) {
	for name, late := range map[string]error{"it failed": ErrServerGone, "it succeeded": nil} {
		bubble(t, name, func(t *testing.T) {
			results := make(chan error)
			var asked atomic.Int32
			p := kept
			p.restart = func(context.Context) error {
				if asked.Add(1) == 1 {
					return <-results
				}
				<-time.After(restartTime / 2)
				return nil
			}
			l := connectedBy(t, Options{}, p, plan{token: "T", resumed: true})
			first := l.x.peers[0]
			first.sink(PeerLost{})
			l.wait(restartAfter + time.Millisecond)
			l.g.Expect(asked.Load()).To(gomega.Equal(int32(1)))
			first.sink(PeerBroken{}) // the session dials again
			l.wait(time.Second)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
			l.g.Expect(l.x.dialed).To(gomega.HaveLen(2))
			l.x.peers[1].sink(PeerLost{})
			l.wait(time.Millisecond)
			results <- late
			l.wait(time.Millisecond)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting), "nothing has restored the present connection")
			l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
			l.wait(time.Second)
			l.g.Expect(l.x.dialed).To(gomega.HaveLen(2), "it may come back by itself")
			l.x.peers[1].sink(PeerRestored{})
			l.wait(time.Millisecond)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		})
	}
}

// duckingPeer is an exchangePeer that is a Ducker, so that the session predicts barge-in.
type duckingPeer struct{ *exchangePeer }

func (duckingPeer) SetGain(float32)                  {}
func (duckingPeer) Position() (PlayedPosition, bool) { return PlayedPosition{Timestamp: 48000}, true }
func (duckingPeer) AwaitPosition(PlayedPosition)     {}
func (duckingPeer) Mute()                            {}

// TestCandidatesAreNumberedOn: candidates keep counting after a reconnect. The server knows the candidates of the former connection,
// and would take a number that comes again for the old candidate.
func TestCandidatesAreNumberedOn(t *testing.T) {
	bubble(t, "after a connection that goes on with the conversation", func(t *testing.T) {
		p := kept
		p.ducks = true
		again := plan{token: "T", resumed: true, ducks: true, seen: "client_1"}
		l := connectedBy(t, Options{}, p, again)
		l.x.peers[0].sink(message(&wire.AntiphonAck{EventID: "a", Acknowledges: "client_1", Machines: wire.Raw(`{"bargein":"another"}`)}))
		speaks := func(of *exchangePeer, response string) {
			of.sink(message(&wire.ResponseCreated{EventID: "c" + response, Response: wire.Response{ID: response, Status: "in_progress"}}))
			of.sink(message(&wire.OutputAudioBufferStarted{EventID: "s" + response, ResponseID: response}))
			l.wait(time.Millisecond)
			of.sink(SpeechOnset{})
			l.wait(time.Millisecond)
			of.sink(SpeechEnded{})
			l.wait(10 * time.Second)
		}
		speaks(l.x.peers[0], "r1")
		l.g.Expect(l.x.peers[0].got()).To(gomega.ContainElement(gomega.HaveSuffix("antiphon.barge_in.candidate 1")))
		l.x.peers[0].sink(PeerBroken{})
		l.wait(250 * time.Millisecond)
		l.x.peers[1].sink(SpeechOnset{}) // over r1, which goes on
		l.wait(10 * time.Second)
		l.g.Expect(l.x.peers[1].got()).To(gomega.ContainElement(gomega.HaveSuffix("antiphon.barge_in.candidate 2")))
		l.x.peers[1].sink(message(&wire.OutputAudioBufferStopped{EventID: "o", ResponseID: "r1"}))
		l.x.peers[1].sink(message(&wire.ResponseDone{EventID: "d", Response: wire.Response{ID: "r1", Status: "completed"}}))
		speaks(l.x.peers[1], "r2")
		l.g.Expect(l.x.peers[1].got()).To(gomega.ContainElement(gomega.HaveSuffix("antiphon.barge_in.candidate 3")))
	})
}
