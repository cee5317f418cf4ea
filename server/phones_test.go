package server_test

// Telephones over a WebSocket: calls, interruptions, coughs, keys, ends, strangers and nonsense.

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestTelephoneGetsAnAnswer(t *testing.T) {
	for _, kind := range kinds() {
		story(t, kind, func(t *testing.T) {
			d := answering(t, nil)
			p := d.calls(kind)
			p.asks("hello there")
			done := servertest.Next[*wire.ResponseDone](d.events.Inbox, "response.done")
			d.g.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal("You said: hello there"))
			d.events.First("output_audio_buffer.stopped")
			wait(time.Second)
			played, did := p.heard()
			d.g.Expect(voice.RMS(voice.PCM16ToFloat(nil, played))).To(gomega.BeNumerically(">", 0.01))
			if p.provider() {
				d.g.Expect(did).To(gomega.BeEmpty())
			} else {
				d.g.Expect(did).To(gomega.Equal([]string{"ANSWER"}))
			}
			p.hangUp()
			d.none()
		})
	}
}

// The agent speaks first where the operator says so.
func TestTelephoneIsGreeted(t *testing.T) {
	story(t, "", func(t *testing.T) {
		words := "Hello, this is Krume."
		d := answering(t, func(c *server.Config) { c.Streams[0].Greeting = &words })
		p := d.calls("json")
		done := servertest.Next[*wire.ResponseDone](d.events.Inbox, "response.done")
		d.g.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal(words))
		d.events.First("output_audio_buffer.stopped")
		p.asks("good morning")
		done = servertest.Next[*wire.ResponseDone](d.events.Inbox, "response.done")
		d.g.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal("You said: good morning"))
		played, _ := p.heard()
		d.g.Expect(voice.RMS(voice.PCM16ToFloat(nil, played))).To(gomega.BeNumerically(">", 0.01))
		p.hangUp()
		d.none()
	})
}

// whileSpeaking places a call and has the agent say 60 words. It returns after 4 s of them.
func whileSpeaking(d *desk, kind string) *telephone {
	p := d.calls(kind)
	p.asks("say 60 words")
	d.events.First("output_audio_buffer.started")
	p.says(quiet(4000))
	return p
}

func TestTelephoneInterrupts(t *testing.T) {
	for _, kind := range kinds() {
		story(t, kind, func(t *testing.T) {
			d := answering(t, nil)
			p := whileSpeaking(d, kind)
			before, _ := p.heard()
			p.says(scripted.Tones("stop it now please"))
			p.says(quiet(900))
			cut := servertest.Next[*wire.ConversationItemTruncated](d.events.Inbox, "conversation.item.truncated")
			_, did := p.heard()
			heard := time.Duration(cut.AudioEndMS) * time.Millisecond
			// The verdict comes 150 ms to 1 s after the begin of the speech, and the position is where the server held: soon after that begin.
			since := heard - time.Duration(len(before))*time.Second/time.Duration(p.rate)
			d.g.Expect(since).To(gomega.BeNumerically("~", 200*time.Millisecond, 200*time.Millisecond))
			switch kind {
			case "pbx", "json":
				d.g.Expect(did).To(gomega.Equal([]string{"ANSWER", "PAUSE_MEDIA", "FLUSH_MEDIA"}))
			default:
				d.g.Expect(did).To(gomega.Equal([]string{"clear"}))
			}
			d.events.First("response.done")
			p.hangUp()
			d.none()
		})
	}
}

// A cough makes the agent softer for a moment, and a long one pauses it. Nothing of what it says is lost, and nothing comes twice.
func TestCoughOnATelephoneCostsNothing(t *testing.T) {
	for _, kind := range kinds() {
		var plain []int16
		for _, cough := range []struct {
			name, text string
			ms         int
			did        []string
		}{
			{name: "none"},
			{"short", "a", 150, []string{"ANSWER"}},
			{"long", "a long sound", 560, []string{"ANSWER", "PAUSE_MEDIA", "CONTINUE_MEDIA"}},
		} {
			story(t, kind+" "+cough.name, func(t *testing.T) {
				d := answering(t, nil)
				p := whileSpeaking(d, kind)
				if cough.ms > 0 {
					p.says(scripted.Tones(cough.text)[:24*cough.ms])
				}
				d.events.First("output_audio_buffer.stopped")
				wait(time.Second)
				played, did := p.heard()
				p.hangUp()
				d.none()
				if cough.ms == 0 {
					plain = played
					return
				}
				if kind == "pbx" || kind == "json" {
					d.g.Expect(did).To(gomega.Equal(cough.did))
				} else {
					d.g.Expect(did).To(gomega.BeEmpty())
				}
				d.g.Expect(len(played)).To(gomega.BeNumerically("~", len(plain), p.rate/50))
				first, last, level := softer(played, plain)
				d.g.Expect((last-first)*1000/p.rate).To(gomega.BeNumerically("~", 225, 125), "in milliseconds")
				d.g.Expect(level).To(gomega.BeNumerically("~", 0.2, 0.1), "20 dB softer, and what leads there")
			})
		}
	}
}

// softer returns where two recordings begin and end to differ, and how loud the first one is there, as a part of the second one.
func softer(played, plain []int16) (first, last int, level float64) {
	n := min(len(played), len(plain))
	for first < n && played[first] == plain[first] {
		first++
	}
	for last = n; last > first && played[last-1] == plain[last-1]; {
		last--
	}
	var both, all float64
	for i := first; i < last; i++ {
		both, all = both+float64(played[i])*float64(plain[i]), all+float64(plain[i])*float64(plain[i])
	}
	return first, last, both / max(all, 1)
}

func TestKeysOfATelephoneOverAStream(t *testing.T) {
	for _, kind := range kinds() {
		story(t, kind, func(t *testing.T) {
			d := answering(t, nil)
			p := d.calls(kind)
			p.presses("17#")
			e := servertest.Next[*wire.InputAudioBufferDTMFEventReceived](d.events.Inbox, "input_audio_buffer.dtmf_event_received")
			d.g.Expect(e.Event).To(gomega.Equal("1"))
			item := servertest.Next[*wire.ConversationItemAdded](d.events.Inbox, "conversation.item.added").Item
			d.g.Expect(item.Content[0].Text).To(gomega.Equal("DTMF: 17#"))
			d.events.First("response.done")
			p.hangUp()
			d.none()
		})
	}
	story(t, "sensitive", func(t *testing.T) {
		d := answering(t, func(c *server.Config) { c.Digits = "sensitive" })
		p := d.calls("pbx")
		p.presses("4111#")
		wait(3 * time.Second)
		d.g.Expect(d.events.Names()).NotTo(gomega.ContainElements("input_audio_buffer.dtmf_event_received"))
		d.g.Expect(d.events.Names()).NotTo(gomega.ContainElements("conversation.item.added"))
		p.hangUp()
		d.none()
	})
}

func TestTelephoneCallsEnd(t *testing.T) {
	for _, kind := range kinds() {
		story(t, kind+": the server ends it", func(t *testing.T) {
			d := answering(t, nil)
			p := whileSpeaking(d, kind)
			began := time.Now()
			d.close()
			d.g.Expect(p.ended().Code).To(gomega.Equal(websocket.StatusNormalClosure))
			d.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 2*time.Second))
			if _, did := p.heard(); !p.provider() {
				d.g.Expect(did).To(gomega.ContainElement("HANGUP"))
			}
		})
		story(t, kind+": the telephone is gone without a word", func(t *testing.T) {
			d := answering(t, nil)
			p := whileSpeaking(d, kind)
			_ = p.ws.CloseNow()
			d.none()
		})
	}
	story(t, "stop", func(t *testing.T) {
		d := answering(t, nil)
		p := d.calls("twilio")
		p.text(`{"event":"stop","sequenceNumber":"9","stop":{"accountSid":"AC1","callSid":"CA1"},"streamSid":"MZ1"}`)
		_ = p.ended()
		d.none()
	})
	story(t, "a telephone that sends nothing any more", func(t *testing.T) {
		d := answering(t, nil)
		p := d.calls("pbx")
		close(p.stop)
		wait(29 * time.Second)
		now, _ := d.server.Calls()
		d.g.Expect(now).To(gomega.Equal(1))
		wait(2 * time.Second)
		d.none()
		_ = p.ws.CloseNow()
	})
}

func TestTelephonesThatMayNotCall(t *testing.T) {
	story(t, "", func(t *testing.T) {
		d := answering(t, nil)
		for name, row := range map[string]struct {
			path   string
			header http.Header
			status int
		}{
			"no key":                          {"pbx", nil, 401},
			"a wrong key":                     {"pbx", basic("another-key-of-sixteen"), 401},
			"a wrong key in the path":         {"telnyx/wrong", nil, 401},
			"the right key, a wrong path key": {"pbx/wrong", basic(phoneKey), 401},
			"an unknown door":                 {"nobody", basic(phoneKey), 401},
			"no signature":                    {"twilio", nil, 401},
			"a signature of another key":      {"twilio", signature("another token", twilioURL), 401},
			"a signature of another URL":      {"twilio", signature("token of the account", twilioURL+"?x=1"), 401},
			"no base64":                       {"twilio", http.Header{"X-Twilio-Signature": {"%"}}, 401},
			"a page":                          {"pbx", http.Header{"Authorization": basic(phoneKey)["Authorization"], "Origin": {"https://page.example"}}, 403},
			"a path below":                    {"pbx/" + phoneKey + "/more", nil, 404},
		} {
			_, r, err := d.dials(row.path, row.header) //nolint:bodyclose // the library has read it
			d.g.Expect(err).To(gomega.HaveOccurred(), name)
			d.g.Expect(r.StatusCode).To(gomega.Equal(row.status), name)
		}
		d.g.Expect(d.get(phonesPath+"pbx", "Authorization", basic(phoneKey).Get("Authorization")).status).To(gomega.Equal(426), "no WebSocket")
		ws, _, err := d.dials("twilio", signature("token of the account", twilioURL+"/")) //nolint:bodyclose // a WebSocket has none
		d.g.Expect(err).NotTo(gomega.HaveOccurred(), "Twilio signs with a slash, too")
		_ = ws.CloseNow()
		now, total := d.server.Calls()
		d.g.Expect([]uint64{uint64(now), total}).To(gomega.Equal([]uint64{0, 0}))
	})
	story(t, "without doors there are no paths", func(t *testing.T) {
		d := answering(t, func(c *server.Config) { c.Streams = nil })
		d.g.Expect(d.get(phonesPath + "pbx").status).To(gomega.Equal(404))
	})
	story(t, "the server is full", func(t *testing.T) {
		d := answering(t, func(c *server.Config) { c.MaxSessions = 1 })
		first := d.calls("pbx")
		ws, _, err := d.dials("pbx", basic(phoneKey)) //nolint:bodyclose // a WebSocket has none
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		d.g.Expect(ws.Write(ctx, websocket.MessageText, []byte(starts["pbx"]))).To(gomega.Succeed())
		_, _, err = ws.Read(ctx)
		d.g.Expect(websocket.CloseStatus(err)).To(gomega.Equal(websocket.StatusPolicyViolation))
		d.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("as many calls as it takes")))
		first.hangUp()
		d.none()
	})
	story(t, "a door has a limit", func(t *testing.T) {
		d := answering(t, nil)
		var all []*telephone
		for range 3 {
			all = append(all, d.calls("pbx"))
		}
		_, r, err := d.dials("pbx", basic(phoneKey)) //nolint:bodyclose // the library has read it
		d.g.Expect(err).To(gomega.HaveOccurred())
		d.g.Expect(r.StatusCode).To(gomega.Equal(429))
		for _, p := range all {
			p.hangUp()
		}
		d.none()
		d.calls("pbx").hangUp()
		d.none()
	})
}

// Whatever a telephone sends, the server ends the call or goes on, and other calls go on.
func TestTelephonesThatSendNonsense(t *testing.T) {
	const text, binary = websocket.MessageText, websocket.MessageBinary
	type sent struct {
		kind websocket.MessageType
		data string
	}
	for name, row := range map[string]struct {
		path  string
		sends []sent
	}{
		"audio first":                 {"pbx", []sent{{binary, "aaaa"}}},
		"no event":                    {"pbx", []sent{{text, ""}}},
		"a word in JSON":              {"pbx", []sent{{text, "{"}}},
		"an unknown format":           {"pbx", []sent{{text, "MEDIA_START connection_id:x format:opus optimal_frame_size:1"}}},
		"no format":                   {"pbx", []sent{{text, "MEDIA_START"}}},
		"frames of 30 ms":             {"pbx", []sent{{text, "MEDIA_START connection_id:x format:ulaw optimal_frame_size:240"}}},
		"a negative frame":            {"pbx", []sent{{text, "MEDIA_START connection_id:x format:ulaw optimal_frame_size:-160"}}},
		"frames of no size":           {"pbx", []sent{{text, "MEDIA_START connection_id:x format:ulaw optimal_frame_size:x"}}},
		"an array":                    {"twilio", []sent{{text, "[]"}}},
		"a number":                    {"twilio", []sent{{text, `{"event":7}`}}},
		"no stream":                   {"twilio", []sent{{text, `{"event":"start","start":{"mediaFormat":{"encoding":"audio/x-mulaw"}}}`}}},
		"a long stream":               {"twilio", []sent{{text, `{"event":"start","streamSid":"` + strings.Repeat("x", 300) + `","start":{"mediaFormat":{"encoding":"audio/x-mulaw"}}}`}}},
		"another provider's words":    {"twilio", []sent{{text, starts["telnyx"]}}},
		"binary":                      {"twilio", []sent{{binary, "x"}}},
		"stop first":                  {"twilio", []sent{{text, `{"event":"stop"}`}}},
		"audio that is no base64":     {"twilio", []sent{{text, starts["twilio"]}, {text, `{"event":"media","media":{"payload":"%"}}`}}},
		"a second start":              {"twilio", []sent{{text, starts["twilio"]}, {text, starts["twilio"]}}},
		"a message that is too large": {"pbx", []sent{{text, starts["pbx"]}, {binary, strings.Repeat("x", 80_000)}}},
	} {
		story(t, name, func(t *testing.T) {
			d := answering(t, nil)
			header := basic(phoneKey)
			if row.path == "twilio" {
				header = signature("token of the account", twilioURL)
			}
			ws, _, err := d.dials(row.path, header) //nolint:bodyclose // a WebSocket has none
			d.g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { _ = ws.CloseNow() }()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for _, s := range row.sends {
				_ = ws.Write(ctx, s.kind, []byte(s.data)) // the server may have closed it
			}
			for err == nil {
				_, _, err = ws.Read(ctx)
			}
			d.g.Expect(ctx.Err()).NotTo(gomega.HaveOccurred(), "the connection is still open")
			d.none()
		})
	}
	story(t, "one that does not read", func(t *testing.T) {
		d := answering(t, nil)
		ws, _, err := d.dials("pbx", basic(phoneKey)) //nolint:bodyclose // a WebSocket has none
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		write := func(kind websocket.MessageType, data []byte) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return ws.Write(ctx, kind, data)
		}
		d.g.Expect(write(text, []byte(starts["pbx"]))).To(gomega.Succeed())
		d.events.First("session.created")
		down, err := voice.NewResampler(24000, 16000)
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		said := down.AppendPCM16(nil, slices.Concat(quiet(400), scripted.Tones("say 400 words"), quiet(1000)))
		for range 3000 { // a minute of audio, of which it reads nothing
			if err = write(binary, voice.PCM16ToBytes(nil, slices.Concat(said[:min(320, len(said))], make([]int16, 320-min(320, len(said)))))); err != nil {
				break
			}
			said = said[min(320, len(said)):]
			wait(20 * time.Millisecond)
		}
		d.none()
		_ = ws.CloseNow()
	})
	story(t, "nothing at all", func(t *testing.T) {
		d := answering(t, nil)
		ws, _, err := d.dials("pbx", basic(phoneKey)) //nolint:bodyclose // a WebSocket has none
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		began := time.Now()
		_, _, err = ws.Read(t.Context())
		d.g.Expect(err).To(gomega.HaveOccurred())
		d.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 10*time.Second, 2*time.Second))
		_ = ws.CloseNow()
	})
	story(t, "harmless nonsense, and floods", func(t *testing.T) {
		d := answering(t, nil)
		p := d.calls("json")
		for _, s := range []string{
			`{"event":"NEWS_OF_2030"}`, `{"event":"MEDIA_XOFF"}`, `{"event":"MEDIA_XON"}`, `{"event":"QUEUE_DRAINED"}`, `{"event":"DTMF_END","digit":"no key"}`, `{"event":"DTMF_END","digit":"x"}`,
			`{"event":"MEDIA_MARK_PROCESSED","correlation_id":"x"}`, `{"event":"MEDIA_MARK_PROCESSED","correlation_id":"99999"}`, starts["json"], "MEDIA_START",
		} {
			p.text(s)
		}
		p.write(websocket.MessageBinary, nil)
		p.write(websocket.MessageBinary, []byte("odd"))
		for range 300 {
			p.write(websocket.MessageBinary, make([]byte, 64_000))
			p.text(`{"event":"DTMF_END","digit":"5"}`)
		}
		wait(20 * time.Second)
		keys := 0
		for _, e := range d.events.All() {
			if e.Type() == "input_audio_buffer.dtmf_event_received" {
				keys++
			}
		}
		d.g.Expect(keys).To(gomega.BeNumerically("<=", 300))
		p.asks("are you there")
		for {
			done := servertest.Next[*wire.ResponseDone](d.events.Inbox, "response.done")
			if m := done.Response.Output; len(m) > 0 && *m[0].Content[0].Transcript == "You said: are you there" {
				break
			}
		}
		p.hangUp()
		d.none()
	})
}

// The echo of a speakerphone comes back 30 to 300 ms late, at -15 dB. It interrupts nobody.
func TestSpeakerphoneDoesNotInterruptTheAgent(t *testing.T) {
	for _, late := range []int{30, 100, 200, 300} {
		story(t, fmt.Sprint(late, " ms"), func(t *testing.T) {
			d := answering(t, nil)
			p := d.calls("json")
			p.asks("say 60 words")
			delayed := make([]int16, late*p.rate/1000)
			gain := math.Pow(10, -15.0/20)
			p.mu.Lock()
			p.echo = func(heard []int16) []int16 {
				for _, x := range heard {
					delayed = append(delayed, int16(float64(x)*gain))
				}
				out := delayed[:len(heard)]
				delayed = delayed[len(heard):]
				return out
			}
			p.mu.Unlock()
			d.events.First("output_audio_buffer.stopped")
			_, did := p.heard()
			d.g.Expect(did).To(gomega.Equal([]string{"ANSWER"}))
			p.hangUp()
			d.none()
		})
	}
}

// A side-band controller gets the keys, also sensitive ones, and ends the call. The log has neither the keys nor the key of the door.
func TestSidebandOfATelephone(t *testing.T) {
	story(t, "", func(t *testing.T) {
		var log lockedText
		d := answering(t, func(c *server.Config) {
			c.Digits = "sensitive"
			c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		p := d.calls("telnyx")
		id := regexp.MustCompile(`"call":"(rtc_[^"]+)"`).FindStringSubmatch(log.text())
		d.g.Expect(id).To(gomega.HaveLen(2))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		side, _, err := websocket.Dial(ctx, "ws://server.test/v1/realtime?call_id="+id[1], &websocket.DialOptions{HTTPClient: d.web}) //nolint:bodyclose // a WebSocket has none
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		_, _, err = side.Read(ctx)
		d.g.Expect(err).NotTo(gomega.HaveOccurred(), "session.created")
		p.presses("4711")
		for _, key := range "4711" {
			_, text, err := side.Read(ctx)
			d.g.Expect(err).NotTo(gomega.HaveOccurred())
			d.g.Expect(string(text)).To(gomega.MatchRegexp(`"type":"input_audio_buffer.dtmf_event_received",.*"event":"%c","received_at":\d+`, key))
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server.test/v1/realtime/calls/"+id[1]+"/hangup", nil)
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		answer, err := d.web.Do(r)
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		_ = answer.Body.Close()
		d.g.Expect(answer.StatusCode).To(gomega.Equal(200))
		_ = p.ended()
		d.none()
		_ = side.CloseNow()
		d.g.Expect(log.text()).NotTo(gomega.MatchRegexp(`4711|"event":"[0-9]"|` + phoneKey))
	})
}

// lockedText is a text that a logger writes.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements io.Writer.
func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
