package llm

// The form of /chat/completions: what is asked, and what answers of all kinds give.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// chatAnswer is an answer as one kind of server sends it, and what it gives.
type chatAnswer struct {
	events []string
	want   said
}

// checkAnswers asks a model once for each answer.
func checkAnswers(t *testing.T, answers map[string]chatAnswer) {
	t.Helper()
	for name, test := range answers {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			m := model(t, Config{}, NewChat, serve(t, events(test.events...)).url)
			got, err := generate(t.Context(), m, pipeline.Request{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if test.want.Usage == (pipeline.Usage{}) {
				got.Usage = pipeline.Usage{}
			}
			g.Expect(got).To(gomega.Equal(test.want))
		})
	}
}

func TestChatText(t *testing.T) {
	checkAnswers(t, map[string]chatAnswer{
		"text": {
			[]string{delta(`"role":"assistant","content":""`), delta(`"content":"Hel"`), delta(`"content":"lo"`), stop, `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}`},
			said{Text: "Hello", Usage: pipeline.Usage{InputTokens: 7, OutputTokens: 2}},
		},
		"no finish reason, but the end": {[]string{delta(`"content":"Hello"`)}, said{Text: "Hello"}},
		"reasoning_content": {
			[]string{delta(`"reasoning_content":"hm"`), delta(`"reasoning_content":"hm","content":null`), delta(`"content":"Hi"`), stop},
			said{Text: "Hi", Events: []string{"thinks"}},
		},
		"reasoning": {[]string{delta(`"reasoning":"hm","content":""`), delta(`"content":"Hi"`), stop}, said{Text: "Hi", Events: []string{"thinks"}}},
		"think tags": {
			[]string{delta(`"content":"<thi"`), delta(`"content":"nk>hm</think"`), delta(`"content":">\n\nHi"`), stop},
			said{Text: "Hi", Events: []string{"thinks"}},
		},
		"parts": {
			[]string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), delta(`"content":[{"type":"text","text":"Hi"}]`), stop},
			said{Text: "Hi", Events: []string{"thinks"}},
		},
		"refusal":        {[]string{delta(`"refusal":"No."`), stop}, said{Text: "No."}},
		"not streamed":   {[]string{`{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`}, said{Text: "Hi"}},
		"many languages": {[]string{delta(`"content":"Grüße, "`), delta(`"content":"\u4f60\u597d"`), stop}, said{Text: "Grüße, 你好"}},
	})
}

// A call in many pieces is complete with its last one.
func TestCallInManyPieces(t *testing.T) {
	for _, index := range []int{0, -1} {
		g := gomega.NewWithT(t)
		got, err := callInPieces(index, 8000)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(got).To(gomega.Equal(8000 + 5))
	}
}

// BenchmarkCallInManyPieces shows that a call costs as much as its length, and not the square of it: the two rows have the same time for each piece.
func BenchmarkCallInManyPieces(b *testing.B) {
	for _, pieces := range []int{100, 8000} {
		b.Run(strconv.Itoa(pieces), func(b *testing.B) {
			for b.Loop() {
				if _, err := callInPieces(-1, pieces); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pieces), "ns/piece")
		})
	}
}

// callInPieces adds a call in so many pieces, and a second one. It returns how many pieces went out.
func callInPieces(index, pieces int) (got int, err error) {
	c := calls{emit: func(pipeline.ModelEvent) error {
		got++
		return nil
	}}
	add := func(piece string) {
		if err == nil {
			err = c.add(callPiece{index: index, name: "note", arguments: piece})
		}
	}
	add(`{"text":"`)
	for range pieces {
		add(strings.Repeat(`a}\"`, 31))
	}
	add("\"}\n")
	if err == nil && !c.open[0].complete() {
		err = errors.New("the first call is not complete")
	}
	add(`{}`)
	if err == nil && len(c.open) != 2 {
		err = fmt.Errorf("%d calls, want 2", len(c.open))
	}
	return got, errors.Join(err, c.end())
}

// Tool calls as different servers send them.
func TestChatCalls(t *testing.T) {
	call := func(fields string) string { return delta(`"tool_calls":[` + fields + `]`) }
	checkAnswers(t, map[string]chatAnswer{
		"a call in pieces": {
			[]string{call(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`), call(`{"index":0,"function":{"arguments":"{\"x\""}}`), call(`{"index":0,"function":{"arguments":":1}"}}`), stop},
			said{Events: []string{`call 0 f: {"x"`, `call 0 f: :1}`, `done 0 f: {"x":1}`}},
		},
		"two calls, mixed": {
			[]string{call(`{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}`), call(`{"index":1,"function":{"arguments":"{\"y\":2}"}}`), call(`{"index":0,"function":{"arguments":"{}"}}`), stop},
			said{Events: []string{`call 1 g: {"y":2}`, `call 0 f: {}`, `done 0 f: {}`, `done 1 g: {"y":2}`}},
		},
		"no index": {
			[]string{call(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), call(`{"function":{"arguments":":1}"}}`), call(`{"id":"b","function":{"name":"f","arguments":"{}"}}`), stop},
			said{Events: []string{`call 0 f: {"x"`, `call 0 f: :1}`, `call 1 f: {}`, `done 0 f: {"x":1}`, `done 1 f: {}`}},
		},
		"no index, no id": {
			[]string{call(`{"function":{"name":"f","arguments":"{}"}}`), call(`{"function":{"name":"g","arguments":"{\"a\":1}"}}`), call(`{"function":{"name":"g","arguments":"{\"a\":2}"}}`), stop},
			said{Events: []string{`call 0 f: {}`, `call 1 g: {"a":1}`, `call 2 g: {"a":2}`, `done 0 f: {}`, `done 1 g: {"a":1}`, `done 2 g: {"a":2}`}},
		},
		"no index, no id, no arguments": {
			[]string{call(`{"function":{"name":"f"}}`), call(`{"function":{"name":"g"}}`), stop},
			said{Events: []string{`done 0 f: {}`, `done 1 g: {}`}},
		},
		"each call has index 0": {
			[]string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`), call(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"a\":2}"}}`), stop},
			said{Events: []string{`call 0 f: {"a":1}`, `call 1 f: {"a":2}`, `done 0 f: {"a":1}`, `done 1 f: {"a":2}`}},
		},
		"index 0 and no id": {
			[]string{call(`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}`), call(`{"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}`), stop},
			said{Events: []string{`call 0 f: {"a":1}`, `call 1 f: {"a":2}`, `done 0 f: {"a":1}`, `done 1 f: {"a":2}`}},
		},
		"a late id, and a name in each piece": {
			[]string{call(`{"index":0,"function":{"name":"f","arguments":"{"}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`), stop},
			said{Events: []string{`call 0 f: {`, `call 0 f: }`, `done 0 f: {}`}},
		},
		"arguments before the name": {
			[]string{call(`{"index":0,"id":"a","function":{"arguments":"{"}}`), call(`{"index":0,"function":{"name":"f","arguments":"}"}}`), stop},
			said{Events: []string{`call 0 f: {}`, `done 0 f: {}`}},
		},
		"arguments as an object": {
			[]string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1}}}`), stop},
			said{Events: []string{`call 0 f: {"x": 1}`, `done 0 f: {"x": 1}`}},
		},
		"arguments null": {[]string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`), stop}, said{Events: []string{`done 0 f: {}`}}},
		"the whole call again": {
			[]string{call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), stop},
			said{Events: []string{`call 0 f: {"x":1}`, `done 0 f: {"x":1}`}},
		},
		"text and a call": {
			[]string{delta(`"content":"Wait."`), call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), stop},
			said{Text: "Wait.", Events: []string{`call 0 f: {}`, `done 0 f: {}`}},
		},
	})
}

func TestChatFailures(t *testing.T) {
	for name, test := range map[string]struct {
		events []string
		want   string
	}{
		"no JSON arguments": {[]string{delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x"}}]`), stop}, `calls the tool "f" with arguments that are no JSON object`},
		"a list":            {[]string{delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"[1]"}}]`), stop}, "no JSON object"},
		"a nameless call":   {[]string{delta(`"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]`), stop}, "calls a tool without a name"},
		"too many calls":    {[]string{delta(`"tool_calls":[` + strings.Repeat(`{"id":"`+"x"+`","function":{"name":"f","arguments":"{}"}},`, 0) + manyCalls() + `]`), stop}, "more than 64 tools"},
		"a filter":          {[]string{`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`}, "content filter"},
		"an error":          {[]string{delta(`"content":"Hi"`), `{"error":{"message":"CUDA out of memory\nat 3","code":500}}`}, "reports: CUDA out of memory"},
		"an old error":      {[]string{`{"object":"error","message":"too long","code":400}`}, "reports: too long"},
		"a long answer":     {[]string{longText(), longText(), longText(), longText(), longText(), longText(), stop}, "an answer of more than"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f := serve(t, events(test.events...))
			_, err := generate(t.Context(), model(t, Config{}, NewChat, f.url), pipeline.Request{})
			var stage *pipeline.StageError
			g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "%v", err)
			g.Expect(err).To(gomega.MatchError(gomega.And(gomega.HavePrefix("model: "+f.url+"/chat/completions "), gomega.ContainSubstring(test.want))))
		})
	}
}

func manyCalls() string {
	one := `{"index":%,"function":{"name":"f","arguments":"{}"}}`
	var all []string
	for i := range maxCalls + 1 {
		all = append(all, strings.Replace(one, "%", string(rune('0'+i/10))+string(rune('0'+i%10)), 1))
	}
	return strings.ReplaceAll(strings.Join(all, ","), `"index":0`, `"index":`)
}

func longText() string { return delta(`"content":"` + strings.Repeat("a", 200_000) + `"`) }

func TestAnAnswerThatIsCutAtItsLimit(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(delta(`"content":"Once"`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`))
	got, err := generate(t.Context(), model(t, Config{}, NewChat, f.url), pipeline.Request{MaxOutputTokens: 1})
	g.Expect(err).To(gomega.Equal(pipeline.ErrMaxTokens))
	g.Expect(got.Text).To(gomega.Equal("Once"))
	g.Expect(got.Usage).To(gomega.Equal(pipeline.Usage{OutputTokens: 1}), "counted here")
}

// A model that begins inside a thought is known after its first answer.
func TestAModelWhoseThoughtHasNoBegin(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(delta(`"content":"hm</think>Hi"`), stop))
	m := model(t, Config{}, NewChat, f.url)
	got, err := generate(t.Context(), m, pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Text).To(gomega.Equal("hmHi"))
	got, err = generate(t.Context(), m, pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Text).To(gomega.Equal("Hi"))
}

func TestAModelThatThinksTooLong(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(delta(`"reasoning":"hm"`), delta(`"reasoning":"hm"`), stop))
	m := model(t, Config{MaxThinking: time.Nanosecond}, NewChat, f.url)
	_, err := generate(t.Context(), m, pipeline.Request{})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("thinks for longer than 1ns (switch its thinking off")))
}

// The request has all of the conversation, in the order that servers want.
func TestChatRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(stop))
	m := model(t, Config{Options: map[string]any{"temperature": 0.5}}, NewChat, f.url)
	_, err := generate(t.Context(), m, conversation())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	expectJSON(g, f.last(), `{
		"model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.5, "max_tokens": 100, "tool_choice": "required",
		"parallel_tool_calls": false,
		"tools": [
			{"type": "function", "function": {"name": "f", "description": "does f", "parameters": {"type": "object"}}},
			{"type": "function", "function": {"name": "g", "description": "", "parameters": {"type": "object", "properties": {}}}}
		],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQI=", "detail": "low"}}]},
			{"role": "assistant", "content": "I see", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
				{"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "a", "content": "one"},
			{"role": "tool", "tool_call_id": "b", "content": "There is no result yet."},
			{"role": "user", "content": "And?"},
			{"role": "assistant", "content": "It is a long"},
			{"role": "user", "content": "[The user interrupted your answer. They heard only the part of it that is written above.]\nStop."},
			{"role": "user", "content": "The result of a tool: lost"}
		]}`)
}

// conversation returns a request with all kinds of messages.
func conversation() pipeline.Request {
	return pipeline.Request{
		Model: "gpt-realtime", Instructions: "Be brief.", MaxOutputTokens: 100, ToolChoice: "required",
		Tools: []pipeline.Tool{{Name: "f", Description: "does f", Parameters: []byte(`{"type":"object"}`)}, {Name: "g"}},
		Messages: []pipeline.Message{
			{Role: "user", Text: "Look.", Images: []pipeline.Image{{MIME: "image/png", Data: []byte{1, 2}, Detail: "low"}}},
			{Role: "assistant", Text: "I see"},
			{Role: "assistant", Call: &pipeline.ToolCall{ID: "a", Name: "f", Arguments: "{}"}},
			{Role: "assistant", Call: &pipeline.ToolCall{ID: "b", Name: "g", Arguments: "{}"}},
			{Role: "user", Text: "And?"},
			{Role: "user", Result: &pipeline.ToolResult{CallID: "a", Output: "one"}},
			{Role: "assistant", Text: "It is a long", Interrupted: true},
			{Role: "user", Text: "Stop."},
			{Role: "user", Result: &pipeline.ToolResult{CallID: "gone", Output: "lost"}},
		},
	}
}

func TestTheNoteOfAnInterruption(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(stop))
	r := pipeline.Request{Messages: []pipeline.Message{{Role: "assistant", Text: "It is", Interrupted: true}, {Role: "user", Text: "Stop."}}}
	for note, want := range map[string]string{"none": "Stop.", "(cut off)": "(cut off)\nStop."} {
		_, err := generate(t.Context(), model(t, Config{Interruption: note}, NewChat, f.url), r)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(f.asked[len(f.asked)-1]["messages"]).To(gomega.ContainElement(gomega.HaveKeyWithValue("content", want)))
	}
}

func TestAModelThatHears(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, events(stop))
	m := model(t, Config{Hears: true}, NewChat, f.url)
	g.Expect(m.HearsAudio()).To(gomega.BeTrue())
	r := pipeline.Request{Messages: []pipeline.Message{
		{Role: "user", Text: "What is this?"},
		{Role: "assistant", Text: "It is", Interrupted: true},
		{Role: "user", Text: "Look:\nno", Audio: &pipeline.Audio{PCM: []int16{1, -2}, Rest: "Look:"}, Images: []pipeline.Image{{MIME: "image/png", Data: []byte{1}}}},
		{Role: "user", Text: "wait", Audio: &pipeline.Audio{PCM: []int16{3}}},
	}}
	_, err := generate(t.Context(), m, r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	messages := f.asked[0]["messages"].([]any)
	parts := func(i int) []any { return messages[i].(map[string]any)["content"].([]any) }
	kinds := func(i int) (all []any) {
		for _, p := range parts(i) {
			all = append(all, p.(map[string]any)["type"])
		}
		return all
	}
	g.Expect(kinds(2)).To(gomega.HaveExactElements("text", "input_audio", "image_url"))
	g.Expect(parts(2)[0]).To(gomega.HaveKeyWithValue("text", DefaultInterruption+"\nLook:"))
	g.Expect(kinds(3)).To(gomega.HaveExactElements("input_audio"), "no transcript beside the audio")
	audio := parts(2)[1].(map[string]any)["input_audio"].(map[string]any)
	g.Expect(audio).To(gomega.HaveKeyWithValue("format", "wav"))
	file, err := base64.StdEncoding.DecodeString(audio["data"].(string))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm, rate, err := wav.ReadAll(bytes.NewReader(file), 100)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(pcm).To(gomega.Equal([]int16{1, -2}))
	g.Expect(rate).To(gomega.Equal(pipeline.AudioRate))

	f.answer = func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"no audio, please"}}`, http.StatusBadRequest)
	}
	_, err = generate(t.Context(), m, r)
	g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("no audio, please"), gomega.ContainSubstring("leave hears out of the configuration"))))
	_, err = generate(t.Context(), m, pipeline.Request{Messages: r.Messages[:1]})
	g.Expect(err).To(gomega.MatchError(gomega.Not(gomega.ContainSubstring("hears"))))
}

func TestAModelThatCannotSee(t *testing.T) {
	g := gomega.NewWithT(t)
	m := model(t, Config{Blind: true}, NewChat, serve(t, "").url)
	got, err := generate(t.Context(), m, pipeline.Request{Messages: []pipeline.Message{{Role: "user", Images: make([]pipeline.Image, 1)}}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Text).To(gomega.Equal(pipeline.NoVisionReply))
}

// An old server refuses a field. The adapter asks again without it, and does not send it any more.
func TestFieldsThatAServerRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		field, answer string
		first         int // requests of the first answer
	}{
		"named":         {"stream_options", `{"error":{"message":"Unrecognized request argument: stream_options"}}`, 2},
		"not named":     {"stream_options", `bad request`, 2},
		"another name":  {"max_tokens", `{"error":{"message":"'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`, 2},
		"named by vLLM": {"parallel_tool_calls", `{"detail":[{"type":"extra_forbidden","loc":["body","parallel_tool_calls"]}]}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f := serve(t, events(delta(`"content":"Hi"`), stop))
			good := f.answer
			f.answer = func(w http.ResponseWriter, r *http.Request) {
				if _, has := f.asked[len(f.asked)-1][test.field]; has {
					http.Error(w, test.answer, http.StatusBadRequest)
					return
				}
				good(w, r)
			}
			m := model(t, Config{}, NewChat, f.url)
			for i := range 2 {
				got, err := generate(t.Context(), m, pipeline.Request{MaxOutputTokens: 5, Tools: []pipeline.Tool{{Name: "f"}}})
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(got.Text).To(gomega.Equal("Hi"))
				g.Expect(f.asked).To(gomega.HaveLen(test.first + i))
			}
			if test.field == "max_tokens" {
				g.Expect(f.asked[2]).To(gomega.HaveKeyWithValue("max_completion_tokens", 5.0))
			}
		})
	}
}
