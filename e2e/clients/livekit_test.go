package clients

// The steps of an application with LiveKit's plugin for OpenAI's realtime models (@livekit/agents-plugin-openai).

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// livekit is the report of a program with a session of the plugin.
type livekit struct {
	Replies []struct {
		Message, Text string
		MS            float64
		Whole         bool
	}
	Calls    []struct{ Name, Place string }
	Heard    []string
	Happened []string
	Errors   []string
	Server   []string // types of the events that came
}

type livekitSuite struct{ *suite }

func TestLiveKitsPlugin(t *testing.T) {
	t.Parallel()
	h := open(t, "livekit")
	s := livekitSuite{newSuite(t, "@livekit/agents-plugin-openai", runNode(t, "livekit", args{"url": h.url, "key": key}))}
	s.step("connect", s.connects)
	s.step("write a message", s.writes)
	s.step("let a tool run", s.usesTool)
	s.step("speak a turn", s.speaks)
	s.step("interrupt, and truncate what was not played", s.interrupts)
	s.step("close", func() { s.tell("close", nil) })
	h.stop()
	h.holds(1)
}

func (s livekitSuite) report() (livekit, error) { return asked[livekit](s, "report", nil) }

// replies waits until the newest reply has this text, and is whole.
func (s livekitSuite) replies(text string) {
	s.t.Helper()
	s.Eventually(func(g gomega.Gomega) {
		r, err := s.report()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Errors).To(gomega.BeEmpty(), "the client complains")
		g.Expect(r.Replies).NotTo(gomega.BeEmpty())
		last := r.Replies[len(r.Replies)-1]
		g.Expect(last.Text).To(gomega.Equal(text))
		g.Expect(last.Whole).To(gomega.BeTrue())
		g.Expect(last.MS).To(gomega.BeNumerically(">", 500))
	}).Should(gomega.Succeed())
}

func (s livekitSuite) connects() {
	s.tell("connect", nil)
	s.Eventually(s.report).Should(gomega.HaveField("Server", gomega.ContainElement("session.updated")))
}

func (s livekitSuite) writes() {
	s.tell("write", args{"text": "good morning"})
	s.replies("You said: good morning")
}

func (s livekitSuite) usesTool() {
	s.tell("write", args{"text": "please look up weather"})
	s.replies("Tool said: rain over: please look up weather")
	r, err := s.report()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(r.Calls).To(gomega.HaveExactElements(gomega.HaveField("Name", "look_up_weather")))
}

func (s livekitSuite) speaks() {
	s.tell("say", args{"pcm": tones("hello there")})
	s.replies("You said: hello there")
	r, err := s.report()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(r.Heard).To(gomega.HaveExactElements("hello there"))
	s.Expect(r.Happened).To(gomega.HaveExactElements("input_speech_started", "input_speech_stopped"))
}

// interrupts: the server truncates the item, and the conversation goes on.
func (s livekitSuite) interrupts() {
	before, err := s.report()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.tell("write", args{"text": "say 60 words"})
	s.Eventually(func(g gomega.Gomega) {
		r, err := s.report()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(len(r.Replies)).To(gomega.BeNumerically(">", len(before.Replies)))
		g.Expect(r.Replies[len(r.Replies)-1].MS).To(gomega.BeNumerically(">", 1500))
	}).Should(gomega.Succeed())
	s.tell("interrupt", args{"ms": 1000})
	s.Eventually(s.report).Should(gomega.HaveField("Server", gomega.ContainElement("conversation.item.truncated")))
	s.tell("write", args{"text": "thank you"})
	s.replies("You said: thank you")
	r, err := s.report()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(strings.Join(r.Server, " ")).NotTo(gomega.ContainSubstring("error"))
}
