package clients

// The package openai over WebSockets: the client under test, and its events.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// openai tests a program that uses the package openai, which reports every event unchanged.
type openai struct {
	*suite
	seen []event
	read int // how many events next has passed
	// target has the arguments for connecting.
	target args
	speak  func(text string)
	// listens begins to send the microphone's sound, where the application has to do that.
	listens func()
	// heard returns how much sound has come in all.
	heard  func() (time.Duration, error)
	webRTC bool
	call   string // the call's id, over WebRTC
}

// refusal is an error as the client reports it.
type refusal struct{ Name, Message, Code, Event string }

type talkReport struct {
	AudioMS float64
	Errors  []refusal
	// State and Happened are the state and the events of a WebRTC connection.
	State    string
	Happened []string
}

func TestOpenAIOverWebSocket(t *testing.T) {
	t.Parallel()
	h := open(t, "openai-ws", "--tls-self-signed")
	n := runNode(t, "openaiWS", args{"url": h.url, "key": key}, "NODE_EXTRA_CA_CERTS="+h.certificate())
	s := onSocket(newSuite(t, "openai, WebSocket (ws)", n))
	s.speak = func(text string) { s.tell("say", args{"pcm": tones(text)}) }
	s.run()
	s.step("transcribe", s.transcribes)
	s.step("begin with a client secret", s.beginsWithSecret)
	h.stop()
	h.holds(3)
}

func openaiOverWebSocket(t *testing.T, b *rig.Browser, page string) {
	h := open(t, "openai-websocket", "--tls-self-signed", "--origin", page)
	s := onSocket(newSuite(t, "openai, WebSocket (the browser's)", runPage(t, b, page, "openaiWebSocket", args{"url": h.url, "key": key})))
	s.speak = func(text string) { s.tell("say", args{"pcm": tones(text)}) }
	s.run()
	h.stop()
	h.holds(1)
}

// onSocket tests a client whose sound goes through events.
func onSocket(s *suite) *openai {
	u := &openai{suite: s, target: args{"target": args{"model": "gpt-realtime"}}, listens: func() { s.tell("listen", nil) }}
	u.heard = func() (time.Duration, error) {
		r, err := asked[talkReport](s, "report", nil)
		return time.Duration(r.AudioMS * float64(time.Millisecond)), err
	}
	return u
}

func (s *openai) run() {
	s.step("connect", s.connects)
	s.step("configure the session", s.configures)
	s.step("ask in writing", s.asksInWriting)
	s.step("hear an answer", s.hears)
	s.step("answer a tool call", s.answersCall)
	if !s.webRTC {
		s.step("commit a turn by hand", s.commits)
	}
	s.step("speak a turn", s.speaks)
	s.step("interrupt by voice", s.bargesIn)
	s.step("cancel", s.cancels)
	s.step("ask beside the conversation", s.asksOutOfBand)
	s.step("reach the limit of tokens", s.isCutShort)
	s.step("be refused, and go on", s.isRefused)
	s.step("close", s.closes)
}

func (s *openai) send(e args) {
	s.t.Helper()
	s.tell("send", args{"event": e})
}

// create asks for a response.
func (s *openai) create(response args) {
	s.t.Helper()
	if response == nil {
		response = args{}
	}
	s.send(args{"type": "response.create", "response": response})
}

// write adds the user's message.
func (s *openai) write(text string) {
	s.t.Helper()
	s.send(args{"type": "conversation.item.create", "item": message(text)})
}

func message(text string) args {
	return args{"type": "message", "role": "user", "content": []args{{"type": "input_text", "text": text}}}
}

// next waits for the next event of this type after the events that it has passed, and passes it.
func (s *openai) next(kind string) event {
	s.t.Helper()
	found, after := s.ahead(kind)
	s.read = after
	return found
}

// ahead waits for the next event of this type after the events that next has passed. It returns the event, and how many events there are
// up to it.
func (s *openai) ahead(kind string) (found event, after int) {
	s.t.Helper()
	s.Eventually(func(g gomega.Gomega) {
		more, err := asked[[]event](s, "events", args{"from": len(s.seen)})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		s.seen = append(s.seen, more...)
		for i, e := range s.seen[s.read:] {
			if e.Type == kind {
				found, after = e, s.read+i+1
				return
			}
		}
		g.Expect(types(s.seen[s.read:])).To(gomega.ContainElement(kind), "what came after the last event that was waited for")
	}).Should(gomega.Succeed())
	return found, after
}

// answer waits for the end of the next response, which must be complete, and returns it with its words.
func (s *openai) answer(words string) event {
	s.t.Helper()
	done := s.next("response.done")
	s.Expect(done.Response.Status).To(gomega.Equal("completed"))
	s.Expect(done.said()).To(gomega.Equal(words))
	s.Expect(done.Response.Usage.TotalTokens).To(gomega.BeNumerically(">", 0))
	return done
}
