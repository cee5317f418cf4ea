package clients

// The steps of an application with @openai/agents-realtime.

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// agents is the report of a program with a session of @openai/agents-realtime.
type agents struct {
	Agent, Status, Call string
	History             []item
	Happened            []string
	Calls               []struct{ Name, Place string }
	RemoteCalls         []struct{ Name, Output string }
	Server              []string // types of the events that came
	Errors              []string
	AudioMS, PlayedMS   float64 // of the present response; over a WebSocket only
	Tokens              int
}

// item is a line of the client's history.
type item struct {
	ItemID, Type, Role, Status, Name string
	Arguments                        any // a text, or the object of a request for approval
	Output                           string
	Content                          []content
}

type content struct{ Type, Text, Transcript string }

// said returns the words of an item.
func (i item) said() string {
	var text string
	for _, c := range i.Content {
		text += c.Text + c.Transcript
	}
	return text
}

// agentsSuite tests a program that uses @openai/agents-realtime.
type agentsSuite struct {
	*suite
	// speak sends a text in tones through the microphone.
	speak func(text string)
	// heard returns how much sound has come since silence.
	heard   func() (time.Duration, error)
	silence func()
	webRTC  bool
}

func TestAgentsOverWebSocket(t *testing.T) {
	t.Parallel()
	h := open(t, "agents-websocket")
	s := agentsOnSocket(newSuite(t, "@openai/agents-realtime, WebSocket", runNode(t, "agents", args{"url": h.url, "key": key})))
	s.run()
	h.stop()
	h.holds(1)
}

// agentsOverBrowsersWebSocket: the browser's own WebSocket sends the key in another way. The rest is as in Node.
func agentsOverBrowsersWebSocket(t *testing.T, b *rig.Browser, page string) {
	h := open(t, "agents-browser", "--origin", page)
	p := runPage(t, b, page, "agents", args{"url": h.url, "key": h.secret()})
	s := agentsOnSocket(newSuite(t, "@openai/agents-realtime, WebSocket (the browser's)", p))
	s.step("connect", s.connects)
	s.step("write a message", s.writes)
	s.step("let a tool run", s.usesTool)
	s.step("speak a turn", s.speaks)
	s.step("close", s.closes)
	h.stop()
	h.holds(1)
}

// agentsOnSocket tests a client whose sound goes through events.
func agentsOnSocket(c *suite) *agentsSuite {
	s := &agentsSuite{suite: c, silence: func() {}} // playedMS is of one response only
	s.speak = func(text string) { s.tell("say", args{"pcm": tones(text)}) }
	s.heard = func() (time.Duration, error) {
		r, err := s.report()
		return time.Duration(r.PlayedMS * float64(time.Millisecond)), err
	}
	return s
}

func agentsOverWebRTC(t *testing.T, b *rig.Browser, page string) {
	h := open(t, "agents-webrtc", "--origin", page)
	// A page has no API key: there the client accepts a client secret only.
	p := runPage(t, b, page, "agents", args{"url": h.url, "key": h.secret(), "webRTC": true})
	s := &agentsSuite{suite: newSuite(t, "@openai/agents-realtime, WebRTC", p), speak: p.speak, heard: p.heard, webRTC: true}
	s.silence = func() {
		s.Eventually(s.report).Should(gomega.HaveField("Server", gomega.Satisfy(played)))
		p.silence()
	}
	s.run()
	h.stop()
	h.holds(1)
}

// played reports whether, by the events, every response was played to its end or cut.
func played(events []string) bool {
	n := map[string]int{}
	for _, e := range events {
		n[e]++
	}
	started := n["output_audio_buffer.started"]
	return started == n["response.output_audio.done"] && started == n["output_audio_buffer.stopped"]+n["output_audio_buffer.cleared"]
}

func (s *agentsSuite) run() {
	s.step("connect", s.connects)
	s.step("write a message", s.writes)
	s.step("let a tool run", s.usesTool)
	s.step("let a tool fail", s.usesBrokenTool)
	s.step("let two tools run at once", s.usesBoth)
	s.step("show a picture", s.shows)
	s.step("speak a turn", s.speaks)
	s.step("interrupt()", s.interrupts)
	s.step("interrupt by voice", s.bargesIn)
	s.step("forget an item", s.forgets)
	s.step("correct an item", s.corrects)
	s.step("hand over to another agent", s.handsOver)
	s.step("close", s.closes)
}

func (s *agentsSuite) report() (agents, error) { return asked[agents](s, "report", nil) }

// see returns the present report.
func (s *agentsSuite) see() agents {
	s.t.Helper()
	r, err := s.report()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(r.Errors).To(gomega.BeEmpty(), "the client complains")
	return r
}

// line waits for a complete item of the history that has these words, and returns it.
func (s *agentsSuite) line(role, said string) item {
	s.t.Helper()
	var found item
	s.Eventually(func(g gomega.Gomega) {
		r, err := s.report()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Errors).To(gomega.BeEmpty())
		var all []item
		g.Expect(r.History).To(gomega.ContainElement(gomega.Satisfy(func(i item) bool {
			return i.Role == role && i.Status == "completed" && i.said() == said
		}), &all), "%s: %s", role, said)
		found = all[len(all)-1]
	}).Should(gomega.Succeed())
	return found
}

func (s *agentsSuite) connects() {
	s.tell("connect", nil) // over WebRTC, a client without an answer to its session.update complains after 5 s, which fails the test
	s.Eventually(s.report).Should(gomega.And(
		gomega.HaveField("Status", "connected"), gomega.HaveField("Agent", "Porter"),
		gomega.HaveField("Server", gomega.ContainElements("session.updated", "mcp_list_tools.failed")),
	))
	r := s.see()
	s.Expect(r.Server[0]).To(gomega.Equal("session.created"))
	s.Expect(r.History).To(gomega.BeEmpty())
	if s.webRTC {
		s.Expect(r.Call).To(gomega.HavePrefix("rtc_"))
	}
}

func (s *agentsSuite) writes() {
	s.tell("write", args{"text": "good morning"})
	s.line("user", "good morning")
	s.line("assistant", "You said: good morning")
	s.Eventually(s.heard).Should(gomega.BeNumerically(">", 500*time.Millisecond))
	s.Eventually(s.report).Should(gomega.HaveField("Happened", gomega.ContainElements("agent_start", "audio_stopped", "agent_end")))
	s.Expect(s.see().Tokens).To(gomega.BeNumerically(">", 0))
}

func (s *agentsSuite) usesTool() {
	s.tell("write", args{"text": "please look up weather"})
	s.line("assistant", "Tool said: rain over: please look up weather")
	r := s.see()
	s.Expect(r.Calls).To(gomega.HaveExactElements(gomega.HaveField("Place", "please look up weather")))
	s.Expect(r.Happened).To(gomega.ContainElements("agent_tool_start", "agent_tool_end"))
	s.Expect(r.History).To(gomega.ContainElement(gomega.And(
		gomega.HaveField("Type", "function_call"), gomega.HaveField("Name", "look_up_weather"), gomega.HaveField("Status", "completed"),
		gomega.HaveField("Arguments", `{"place":"please look up weather"}`), gomega.HaveField("Output", "rain over: please look up weather"),
	)))
}

// usesBrokenTool: the client sends its usual error text as the result of a tool that fails.
func (s *agentsSuite) usesBrokenTool() {
	s.tell("write", args{"text": "open window"})
	s.line("assistant", "Tool said: An error occurred while running the tool. Please try again.")
}

// usesBoth: the client sends each result of two tools as soon as it has it. It requests one answer for each or one for both, depending
// on the times. The results are the same in each case.
func (s *agentsSuite) usesBoth() {
	before := len(s.of("assistant"))
	s.tell("write", args{"text": "look up weather and open window"})
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.WithTransform(calls, gomega.And(
		gomega.HaveLen(4), gomega.HaveEach(gomega.HaveField("Status", "completed")),
	))))
	made := calls(s.see().History)
	s.Expect(made[2].Output).To(gomega.Equal("rain over: look up weather and open window"))
	s.Expect(made[3].Output).To(gomega.HavePrefix("An error occurred"))
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.WithTransform(assistants, gomega.And(
		gomega.WithTransform(count, gomega.BeNumerically(">", before)), gomega.HaveEach(gomega.Not(gomega.HaveField("Status", "in_progress"))),
	))))
}

func count(all []item) int { return len(all) }

// calls returns the tool calls among items.
func calls(all []item) []item {
	return slices.DeleteFunc(slices.Clone(all), func(i item) bool { return i.Type != "function_call" })
}

// pixel is a picture of one pixel.
const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func (s *agentsSuite) shows() {
	s.tell("show", args{"image": pixel})
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.WithTransform(assistants, gomega.ContainElement(
		gomega.WithTransform(item.said, gomega.Equal(pipeline.NoVisionReply)),
	))))
}

func (s *agentsSuite) speaks() {
	s.silence()
	s.speak("hello there")
	s.line("user", "hello there")
	s.line("assistant", "You said: hello there")
	s.Expect(s.see().Server).To(gomega.ContainElements(
		"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
		"conversation.item.input_audio_transcription.completed",
	))
}

// long begins a long response, waits for some of its sound, and returns how many responses there were before.
func (s *agentsSuite) long() (before int) {
	s.t.Helper()
	before = len(s.of("assistant"))
	s.silence()
	s.tell("write", args{"text": "say 60 words"})
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.WithTransform(assistants, gomega.HaveLen(before+1))))
	s.Eventually(s.heard).Should(gomega.And(gomega.BeNumerically(">", time.Second), gomega.BeNumerically("<", 10*time.Second)))
	return before
}

// cut waits until the client knows how much of the long response was heard: it retrieves the item after the truncation.
func (s *agentsSuite) cut(at int) {
	s.t.Helper()
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.WithTransform(assistants, gomega.Satisfy(func(all []item) bool {
		said := all[at].said()
		return all[at].Status == "incomplete" && strings.HasPrefix(said, "One two") && !strings.Contains(said, "sixteen")
	}))))
	s.Expect(s.see().Server).To(gomega.ContainElement("conversation.item.truncated"))
}

func assistants(all []item) []item { return of(all, "assistant") }

func of(all []item, role string) []item {
	return slices.DeleteFunc(slices.Clone(all), func(i item) bool { return i.Role != role })
}

func (s *agentsSuite) of(role string) []item { return of(s.see().History, role) }

func (s *agentsSuite) interrupts() {
	at := s.long()
	s.tell("interrupt", nil)
	s.cut(at)
	// The conversation goes on.
	s.tell("write", args{"text": "thank you"})
	s.line("assistant", "You said: thank you")
}

func (s *agentsSuite) bargesIn() {
	at := s.long()
	s.speak("stop, I know")
	s.line("user", "stop, I know")
	s.cut(at)
	s.line("assistant", "You said: stop, I know")
}

func (s *agentsSuite) forgets() {
	before := s.see().History
	gone := s.line("assistant", "You said: hello there")
	s.tell("forget", args{"item": gone.ItemID})
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.And(
		gomega.HaveLen(len(before)-1), gomega.Not(gomega.ContainElement(gomega.HaveField("ItemID", gone.ItemID))),
	)))
}

// corrects: the client deletes an item and creates it again in its place.
func (s *agentsSuite) corrects() {
	before := s.see()
	first := before.History[0]
	s.Expect(first.said()).To(gomega.Equal("good morning"))
	s.tell("correct", args{"item": first.ItemID, "text": "good evening"})
	s.line("user", "good evening")
	after := s.see()
	s.Expect(after.History).To(gomega.HaveLen(len(before.History)))
	s.Expect(after.History[0].ItemID).To(gomega.Equal(first.ItemID))
	s.Expect(after.History[0].said()).To(gomega.Equal("good evening"))
}

// handsOver: the next agent has no tools, and the server gets this setting.
func (s *agentsSuite) handsOver() {
	s.tell("write", args{"text": "transfer to clerk"})
	s.Eventually(s.report).Should(gomega.And(
		gomega.HaveField("Agent", "Clerk"), gomega.HaveField("Happened", gomega.ContainElement("agent_handoff")),
	))
	s.Eventually(s.report).Should(gomega.HaveField("History", gomega.ContainElement(
		gomega.WithTransform(item.said, gomega.ContainSubstring(`Tool said: {"assistant":"Clerk"}`)),
	)))
	s.tell("write", args{"text": "and look up weather"})
	s.line("assistant", "You said: and look up weather")
	s.Expect(s.see().Calls).To(gomega.HaveLen(2), "from before")
}

func (s *agentsSuite) closes() {
	s.see()
	s.tell("close", nil)
	s.Eventually(s.report).Should(gomega.HaveField("Status", "disconnected"))
}
