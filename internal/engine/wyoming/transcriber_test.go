package wyoming

// The recogniser against services that answer, and against services that fail.

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// recogniser returns a Transcriber of a stand-in.
func recogniser(t *testing.T, s Service, o RecogniserOptions) *Transcriber {
	t.Helper()
	o.Service = s
	tr, err := NewTranscriber(o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestARecordingIsTranscribed(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, asr(false), func(p *peer, _ event) {
		if p.until("audio-stop") {
			p.send("transcript", map[string]string{"text": " " + text(p) + "  [BLANK_AUDIO]\n"}, nil)
		}
	})
	tr := recogniser(t, s, RecogniserOptions{Model: "base"})
	g.Expect(pipetest.Hear(t, tr, pipeline.TranscribeConfig{Language: "en-GB"}, pipetest.Silence(2))).To(gomega.Equal(
		[]pipeline.TranscriptResult{{Final: true, Text: "base en 2.0 seconds", Partial: "base en 2.0 seconds"}}))
	g.Expect(tr.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(tr.Component()).To(gomega.Equal(pipeline.Component{Stage: "transcriber", Name: "wyoming", State: "ready", Detail: "faster-whisper base at " + s.URL}))
}

func TestAModelOfTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, asr(false), func(p *peer, _ event) {
		if p.until("audio-stop") {
			p.send("transcript", map[string]string{"text": text(p)}, nil)
		}
	})
	tr := recogniser(t, s, RecogniserOptions{Language: "de"})
	g.Expect(tr.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{Model: "base"}, pipetest.Silence(1))).Text).To(gomega.Equal("base de 1.0 seconds"))
	g.Expect(pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{Model: "whisper-1"}, pipetest.Silence(1))).Text).To(gomega.Equal("<nil> de 1.0 seconds"))
	g.Expect(tr.NegotiateConfig(pipeline.TranscribeConfig{Model: "whisper-1", Language: "en", Prompt: "x", Words: true})).To(gomega.Equal(pipeline.TranscribeConfig{Language: "en"}))
	g.Expect(tr.NegotiateConfig(pipeline.TranscribeConfig{Model: "base"})).To(gomega.Equal(pipeline.TranscribeConfig{Model: "base"}))
}

// TestAServiceThatStreams gets the audio as it comes and sends pieces of the text.
func TestAServiceThatStreams(t *testing.T) {
	g := gomega.NewWithT(t)
	heard := make(chan struct{})
	s := serve(t, asr(true), func(p *peer, _ event) {
		p.send("transcript-start", nil, nil)
		p.send("transcript-chunk", map[string]string{"text": "Good"}, nil)
		<-heard
		p.send("transcript-chunk", map[string]string{"text": " day"}, nil)
		if p.until("audio-stop") {
			p.send("transcript", map[string]string{"text": "Good day."}, nil)
			p.send("transcript-stop", nil, nil)
		}
	})
	u, err := recogniser(t, s, RecogniserOptions{}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	g.Expect(u.Write(pipetest.Silence(0.1))).To(gomega.Succeed())
	g.Expect((<-u.Results()).Partial).To(gomega.Equal("Good"))
	close(heard)
	g.Expect((<-u.Results()).Partial).To(gomega.Equal("Good day"))
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	r := <-u.Results()
	g.Expect(r.Final).To(gomega.BeTrue())
	g.Expect(r.Text).To(gomega.Equal("Good day."))
}

// TestPiecesAlone: a service may send no whole text.
func TestPiecesAlone(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, asr(true), func(p *peer, _ event) {
		if p.until("audio-stop") {
			p.send("transcript-chunk", map[string]string{"text": " Good day."}, nil)
			p.send("transcript-stop", nil, nil)
		}
	})
	for _, live := range []bool{true, false} {
		g.Expect(pipetest.Last(pipetest.Hear(t, recogniser(t, s, RecogniserOptions{}), pipeline.TranscribeConfig{Live: live}, pipetest.Silence(1))).Text).To(gomega.Equal("Good day."))
	}
}

func TestAServiceThatDoesNotStream(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, asr(false), func(p *peer, _ event) {
		if p.until("audio-stop") {
			p.send("transcript", map[string]string{"text": text(p)}, nil)
		}
	})
	u, err := recogniser(t, s, RecogniserOptions{PartialEvery: 500 * time.Millisecond}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	g.Expect(u.Write(pipetest.Silence(0.6))).To(gomega.Succeed())
	g.Expect((<-u.Results()).Partial).To(gomega.ContainSubstring("0.5 seconds"))
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	g.Expect((<-u.Results()).Text).To(gomega.ContainSubstring("0.6 seconds"))

	_, err = recogniser(t, s, RecogniserOptions{PartialEvery: -1}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
}

// raw returns a handler that sends bytes after the audio, and then waits for the end of the connection.
func raw(b string) func(p *peer, _ event) {
	return func(p *peer, _ event) {
		if p.until("audio-stop") {
			_, _ = p.Write([]byte(b))
			p.until("nothing")
		}
	}
}

func TestBadRecognisers(t *testing.T) {
	hangUp := func(p *peer, _ event) { p.until("audio-stop") }
	for name, test := range map[string]struct {
		handle func(p *peer, _ event)
		want   string
	}{
		"says nothing":      {raw(""), "sent nothing for 300ms after audio-stop"},
		"hangs up":          {hangUp, "closed the connection before the end of its answer to audio-stop"},
		"speaks HTTP":       {raw("HTTP/1.1 400 Bad Request\r\n\r\n"), `does not speak the Wyoming protocol: "HTTP/1.1 400 Bad Request\r" is no line of an event (check url`},
		"sends data alone":  {raw(`{"type":"transcript","data_length":9}` + "\n[1,2,3,4]"), `the data of its event "transcript" cannot be read`},
		"stops in an event": {raw(`{"type":"transcript","data_length":900}` + "\n{"), "sent nothing for 300ms after audio-stop"},
		"an error":          {raw(`{"type":"error","data":{"text":"no \u001b[31mmodel\nat line 3","code":"x"}}` + "\n"), "answered with an error: no [31mmodel"},
		"an error's code":   {raw(`{"type":"error","data":{"code":"busy"}}` + "\n"), "answered with an error: busy"},
		"a library": {func(p *peer, _ event) {
			p.until("audio-stop")
			p.send("transcript", map[string]string{"text": strings.Repeat("a", maxText+1)}, nil)
			p.until("nothing")
		}, "sent a wrong answer: more than 65536 bytes of text"},
		"talks for ever": {func(p *peer, _ event) {
			p.until("audio-stop")
			for range 100 {
				p.send("transcript-chunk", map[string]string{"text": strings.Repeat("a", 1024)}, nil)
			}
			p.until("nothing")
		}, "sent a wrong answer: more than 65536 bytes of text"},
	} {
		for mode, c := range map[string]pipeline.TranscribeConfig{"live": {Live: true}, "whole": {}} {
			t.Run(name+", "+mode, func(t *testing.T) {
				g := gomega.NewWithT(t)
				s := serve(t, asr(true), test.handle)
				if strings.HasPrefix(test.want, "sent nothing") { // the other services answer, on a busy machine after a while
					s.FirstByte, s.Idle = 300*time.Millisecond, 300*time.Millisecond
				}
				tr := recogniser(t, s, RecogniserOptions{})
				r := pipetest.Last(pipetest.Hear(t, tr, c, pipetest.Silence(1)))
				var stage *pipeline.StageError
				g.Expect(errors.As(r.Err, &stage)).To(gomega.BeTrue(), "%v", r.Err)
				g.Expect(r.Err.Error()).To(gomega.HavePrefix("transcriber: " + s.URL + " "))
				g.Expect(r.Err.Error()).To(gomega.ContainSubstring(test.want))
				g.Expect(strings.Count(r.Err.Error(), s.URL)).To(gomega.Equal(1))
				g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateFailed))
			})
		}
	}
}

func TestNobodyListens(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_ = l.Close()
	s := Service{URL: "tcp://" + l.Addr().String()}
	for _, live := range []bool{true, false} {
		r := pipetest.Last(pipetest.Hear(t, recogniser(t, s, RecogniserOptions{}), pipeline.TranscribeConfig{Live: live}, pipetest.Silence(1)))
		g.Expect(r.Err).To(gomega.MatchError(gomega.And(
			gomega.HavePrefix("transcriber: "+s.URL+" cannot be reached"), gomega.HaveSuffix("(check that the service runs, and the url in the configuration)"))))
	}
}

func TestASynthesizerIsNoRecogniser(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, piper(false), func(*peer, event) {})
	_, err := recogniser(t, s, RecogniserOptions{}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("is a Wyoming service of another kind (the usual ports are 10300")))
}

// TestTheContextEndsARecognition: the connection is closed at once.
func TestTheContextEndsARecognition(t *testing.T) {
	for _, live := range []bool{true, false} {
		heard, ended := make(chan struct{}), make(chan struct{})
		s := serve(t, asr(true), func(p *peer, _ event) {
			p.until("audio-stop")
			close(heard)
			p.until("nothing")
			close(ended)
		})
		pipetest.EndsWithItsContext(t, recogniser(t, s, RecogniserOptions{}), pipeline.TranscribeConfig{Live: live}, heard, ended)
	}
}

// TestAServiceThatTakesNoAudio fails when the buffers of the connection are full.
func TestAServiceThatTakesNoAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	stop := make(chan struct{})
	s := serve(t, asr(false), func(*peer, event) { <-stop })
	t.Cleanup(func() { close(stop) }) // before the end of the stand-in, which waits for its connections
	s.Idle, s.FirstByte = 300*time.Millisecond, 300*time.Millisecond
	six := make([]byte, 6*60*2*pipeline.InputRate) // minutes
	_, err := recogniser(t, s, RecogniserOptions{}).engine.ask(t.Context(), backend.Config{}, six, nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(s.URL + " took no data for 300ms")))
}
