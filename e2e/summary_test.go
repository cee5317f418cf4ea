package e2e

// Summaries: in a spoken call, the model reads a summary in place of the oldest items. The client keeps all items.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
	"github.com/antiphon-rt/antiphon/wire"
)

// summingServer is a stand-in for a server with /v1/chat/completions. It answers a user with a tool call, and the result of a tool with "Fine.". Once
// it reads a summary, it answers everything with "Fine.". The arguments of the n-th call have about arguments[n-1] tokens of four bytes.
type summingServer struct {
	url       string
	arguments []int

	mu    sync.Mutex
	asked []chatRequest // for answers
	noted []chatRequest // for summaries
}

// theSummary is the summary that a summingServer writes.
const theSummary = "The user has read one page."

func newSummingServer(t *testing.T, arguments ...int) *summingServer {
	t.Helper()
	m := &summingServer{arguments: arguments}
	s := httptest.NewServer(m)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	m.url = s.URL + "/v1"
	return m
}

// ServeHTTP implements http.Handler.
func (m *summingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if r.Method != http.MethodPost {
		http.NotFound(w, r) // a question for the models, which such a server need not answer
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	summary := strings.HasPrefix(q.Messages[0].Content, "You take notes")
	m.mu.Lock()
	if summary {
		m.noted = append(m.noted, q)
	} else {
		m.asked = append(m.asked, q)
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, m.answer(q, summary)+"data: [DONE]\n\n")
}

// answer returns the events of the answer to a request.
func (m *summingServer) answer(q chatRequest, summary bool) string {
	results := 0
	for _, msg := range q.Messages {
		if msg.Role == "tool" {
			results++
		}
	}
	switch {
	case summary:
		return chunk(theSummary)
	case q.Messages[len(q.Messages)-1].Role == "tool", strings.Contains(q.Messages[0].Content, theSummary), results == len(m.arguments):
		return chunk("Fine.")
	}
	arguments, _ := json.Marshal(fmt.Sprintf(`{"number":%d,"note":%q}`, results+1, strings.Repeat("abcd", m.arguments[results]))) // a string has no error
	return fmt.Sprintf(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"page","arguments":%s}}]}}]}`+"\n\n", arguments)
}

// last returns the newest request for an answer, and the first one for a summary.
func (m *summingServer) last() (answer, summary chatRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1], m.noted[0]
}

// outline returns the messages after the first one, in short: a tool call has its number, and a result the number of its call.
func (q chatRequest) outline() (out []string) {
	calls := map[string]string{}
	for _, msg := range q.Messages[1:] {
		switch {
		case len(msg.ToolCalls) == 1:
			number, _, _ := strings.Cut(strings.TrimPrefix(msg.ToolCalls[0].Function.Arguments, `{"number":`), ",")
			calls[msg.ToolCalls[0].ID] = number
			out = append(out, "call "+number)
		case msg.Role == "tool":
			out = append(out, "result of call "+calls[msg.ToolCallID])
		default:
			out = append(out, msg.Role+": "+plain(msg.Content))
		}
	}
	return out
}

// plain returns a text without its punctuation, which a draft may have from an earlier partial result than the transcript.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// TestASpokenCallIsSummarised: a person asks four times, and tools return long texts. The room for the conversation is about 2200 tokens. So a summary
// is written when the third result comes, at 1540 tokens, and the rest is to be below 770. The second call alone would be summarised without its result:
// so it stays, too.
func TestASpokenCallIsSummarised(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	m := newSummingServer(t, 1, 400, 1)
	f, err := config.Parse("antiphon.yaml", []byte(strings.ReplaceAll(`
stt: {kind: sherpa, processes: 1, models: ../.cache/models}
llm: {kind: openai, url: URL, model: m, window: 4500, spoken: none, no_time: true}
tts: {kind: scripted}
`, "URL", m.url)), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	pages := make(chan string, 3)
	for _, tokens := range []int{700, 300, 300} {
		pages <- strings.Repeat("page", tokens)
	}
	h := open(t, nil, func(c *server.Config) { c.Pipeline = p })
	c := call(t, callOptions{name: "reader", url: h.url, sdk: sdk.Options{Tools: []sdk.Tool{{
		Name: "page", Description: "The next page.", Run: func(context.Context, string) (string, error) { return <-pages, nil },
	}}}})

	for _, name := range []string{"agent-alreadyon", "conf-kicked", "conf-getpin"} {
		c.speak(prompt(t, name))
		c.Expect(nextOf[*wire.ResponseDone](c).Response.Output[0].Type).To(gomega.Equal(wire.ItemFunctionCall))
		c.answer("Fine.")
	}
	found, _, ok := c.line.find(0, func(s seen) bool { return s.Type() == "antiphon.conversation.compacted" }) // it may come before the third answer
	c.Expect(ok).To(gomega.BeTrue())
	compacted := found.ServerEvent.(*wire.AntiphonConversationCompacted) //nolint:forcetypeassert // the name says it
	c.speak(prompt(t, "conf-waitforleader"))
	c.answer("Fine.")

	said := c.transcripts(0)
	c.Expect(said).To(gomega.HaveLen(4))
	answer, summary := m.last()
	c.Expect(answer.Messages[0].Content).To(gomega.HaveSuffix("A summary of what is left out below:\n" + theSummary))
	c.Expect(answer.outline()).To(gomega.Equal([]string{
		"call 2", "result of call 2", "assistant: fine", "user: " + plain(said[2]), "call 3", "result of call 3", "assistant: fine", "user: " + plain(said[3]),
	}))
	c.Expect(plain(summary.Messages[1].Content)).To(gomega.And(
		gomega.ContainSubstring(plain(said[0])), gomega.ContainSubstring("pagepage"), gomega.ContainSubstring(plain(said[1]))))
	c.Expect(summary.Messages[1].Content).NotTo(gomega.ContainSubstring("abcdabcd"), "the second call is not in the summary")
	c.Expect([]any{compacted.Items, compacted.Summary}).To(gomega.Equal([]any{5, theSummary}))
	c.keepsAll(said)
}

// keepsAll checks that the client has the whole conversation: each of the user's turns with its answer, and the tool calls.
func (c *caller) keepsAll(said []string) {
	var users, agents []string
	calls := 0
	for _, e := range c.Snapshot().Transcript {
		switch {
		case e.ToolCall != nil:
			calls++
			c.Expect(*e.ToolCall).To(gomega.And(gomega.HaveField("Done", true), gomega.HaveField("Output", gomega.HavePrefix("page"))))
		case e.Role == sdk.User:
			users = append(users, e.Text)
		default:
			agents = append(agents, e.Text)
		}
	}
	c.Expect(users).To(gomega.Equal(said))
	c.Expect(agents).To(gomega.Equal([]string{"Fine.", "Fine.", "Fine.", "Fine."}))
	c.Expect(calls).To(gomega.Equal(3))
	first := c.Snapshot().Transcript[0].ItemID
	c.send(&wire.ConversationItemRetrieve{ItemID: first})
	c.Expect(nextOf[*wire.ConversationItemRetrieved](c).Item.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal(said[0])))
	c.Expect(c.count("conversation.item.deleted") + c.count("conversation.item.truncated")).To(gomega.BeZero())
}
