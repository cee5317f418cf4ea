package llm

// A Model against servers that misbehave, end, or lack the model.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/badserver"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestBadServers(t *testing.T) {
	for name, test := range map[string]struct {
		make func(Config) (*Model, error)
		good string
	}{
		"chat":      {NewChat, events(delta(`"content":"Hel"`), delta(`"content":"lo"`), stop)},
		"responses": {NewResponses, responseEvents()},
	} {
		t.Run(name, func(t *testing.T) {
			badserver.Check(t, badserver.Adapter{
				Stage: pipeline.StageModel, Good: badserver.Answer{Type: "text/event-stream", Body: test.good},
				Call: func(ctx context.Context, server remote.Config) error {
					m, err := test.make(Config{Model: "m", Server: server})
					if err != nil {
						return err
					}
					defer m.Close()
					_, err = generate(ctx, m, pipeline.Request{})
					return err
				},
			})
		})
	}
}

// A barge-in closes the request.
func TestACancelledAnswerClosesItsRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	closed := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", mimeSSE)
		_, _ = io.WriteString(w, "data: "+delta(`"content":"Once upon"`)+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	}))
	defer s.Close()
	m := model(t, Config{}, NewChat, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.Generate(ctx, pipeline.Request{}, func(pipeline.ModelEvent) error {
		cancel()
		return nil
	})
	g.Expect(err).To(gomega.Equal(context.Canceled))
	g.Eventually(closed, remote.DefaultIdle/2).Should(gomega.BeClosed(), "no time limit closes it; the benchmark measures how fast it is")
}

// The error of emit ends the answer and comes back.
func TestTheSessionEndsTheAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	over := errors.New("over")
	m := model(t, Config{}, NewChat, serve(t, events(delta(`"content":"a"`), delta(`"content":"b"`), stop)).url)
	calls := 0
	_, err := m.Generate(t.Context(), pipeline.Request{}, func(pipeline.ModelEvent) error { calls++; return over })
	g.Expect(err).To(gomega.Equal(over))
	g.Expect(calls).To(gomega.Equal(1))
}

// The usage may come late, or never: the answer is complete at its finish reason.
func TestAServerThatDoesNotEndItsAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", mimeSSE)
		_, _ = io.WriteString(w, "data: "+delta(`"content":"Hi"`)+"\n\ndata: "+stop+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	begin := time.Now()
	got, err := generate(t.Context(), model(t, Config{}, NewChat, s.URL), pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Text).To(gomega.Equal("Hi"))
	g.Expect(time.Since(begin)).To(gomega.BeNumerically("<", remote.DefaultIdle), "the limit of a pause within an answer does not end it")
}

func TestTheNextServerAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) }))
	defer broken.Close()
	good := serve(t, events(delta(`"content":"Hi"`), stop))
	got, err := generate(t.Context(), model(t, Config{}, NewChat, broken.URL, good.url), pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Text).To(gomega.Equal("Hi"))
}

func TestResponsesAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, responseEvents())
	m := model(t, Config{}, NewResponses, f.url)
	got, err := generate(t.Context(), m, conversation())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got).To(gomega.Equal(said{
		Text: "Hello", Usage: pipeline.Usage{InputTokens: 7, OutputTokens: 2},
		Events: []string{"thinks", `call 0 f: {"x"`, `call 0 f: :1}`, `done 0 f: {"x":1}`},
	}))
	expectJSON(g, f.last(), `{
		"model": "m", "stream": true, "store": false, "instructions": "Be brief.", "max_output_tokens": 100, "tool_choice": "required",
		"parallel_tool_calls": false,
		"tools": [
			{"type": "function", "name": "f", "description": "does f", "parameters": {"type": "object"}, "strict": false},
			{"type": "function", "name": "g", "description": "", "parameters": {"type": "object", "properties": {}}, "strict": false}
		],
		"input": [
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": "data:image/png;base64,AQI=", "detail": "low"}]},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I see"}]},
			{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
			{"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
			{"type": "function_call_output", "call_id": "b", "output": "There is no result yet."},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]},
			{"type": "function_call_output", "call_id": "a", "output": "one"},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is a long"}]},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[The user interrupted your answer. They heard only the part of it that is written above.]\nStop."}]},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "The result of a tool: lost"}]}
		]}`)
}

// responseEvents returns an answer of /responses with a thought, a text and a tool call.
func responseEvents() string {
	var all string
	for _, data := range []string{
		`{"type":"response.created","response":{"status":"in_progress"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning"}}`,
		`{"type":"response.reasoning_text.delta","output_index":0,"delta":"hm"}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"Hel"}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"lo"}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"x\""}`,
		`{"type":"response.function_call_arguments.delta","output_index":2,"delta":":1}"}`,
		`{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"x\":1}"}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}}`,
		`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":7,"output_tokens":2}}}`,
	} {
		all += "data: " + data + "\n\n"
	}
	return all
}

func TestTheEndOfResponses(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"limit":  {`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, pipeline.ErrMaxTokens.Error()},
		"filter": {`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`, "content filter"},
		"failed": {`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no memory"}}}`, "reports: no memory"},
		"error":  {`{"type":"error","message":"no quota"}`, "reports: no quota"},
	} {
		_, err := generate(t.Context(), model(t, Config{}, NewResponses, serve(t, "data: "+test.data+"\n\n").url), pipeline.Request{})
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(test.want)), name)
	}
}

func TestResponsesThatAreNotStreamed(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, "")
	f.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mimeJSON)
		_, _ = io.WriteString(w, `{"status":"completed","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}]},
			{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}],
			"usage":{"input_tokens":1,"output_tokens":2}}`)
	}
	got, err := generate(t.Context(), model(t, Config{}, NewResponses, f.url), pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got).To(gomega.Equal(said{Text: "Hi", Usage: pipeline.Usage{InputTokens: 1, OutputTokens: 2}, Events: []string{`call 0 f: {}`, `done 0 f: {}`}}))
}
