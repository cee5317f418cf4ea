package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// Garbage in every field that a client can send. The test finds the fields in whole examples, so a new field of an example is tested
// too.

// wholeSession has every field of the session object.
const wholeSession = `{"type":"session.update","event_id":"e","session":{"type":"realtime","model":"other","output_modalities":["audio"],
	"instructions":"Be brief.","max_output_tokens":400,"tool_choice":"auto","parallel_tool_calls":false,
	"tracing":{"workflow_name":"w","group_id":"g","metadata":{"a":"b"}},"prompt":{"id":"pmpt_guide","version":"2","variables":{"mood":"kind"}},
	"include":["item.input_audio_transcription.logprobs"],"truncation":{"type":"retention_ratio","retention_ratio":0.8,"token_limits":{"post_instructions":900}},
	"tools":[{"type":"function","name":"clock","description":"what time it is","parameters":{"type":"object"}}],
	"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"noise_reduction":{"type":"near_field"},
	"transcription":{"model":"any","language":"en","prompt":"names"},
	"turn_detection":{"type":"server_vad","threshold":0.4,"prefix_padding_ms":200,"silence_duration_ms":400,"idle_timeout_ms":6000,
	"create_response":true,"interrupt_response":true,"eagerness":"low"}},
	"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"slt","speed":1.25}}}}`

// wholeRequest has every field of response.create.
const wholeRequest = `{"type":"response.create","event_id":"e","response":{"instructions":"Be brief.","output_modalities":["text"],
	"audio":{"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"slt"}},
	"tools":[{"type":"function","name":"clock","description":"d","parameters":{"type":"object"}}],"tool_choice":"none","parallel_tool_calls":true,
	"conversation":"auto","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}],
	"max_output_tokens":50,"prompt":{"id":"pmpt_guide","version":"2"},"metadata":{"topic":"t"}}}`

// wholeItems have every field of the items that a client may create.
var wholeItems = []string{
	`{"type":"conversation.item.create","event_id":"e","previous_item_id":"root","item":{"id":"x1","type":"message","status":"completed","role":"user","content":[
		{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"},
		{"type":"input_audio","transcript":"well","audio":"AAAA"}]}}`,
	`{"type":"conversation.item.create","event_id":"e","item":{"id":"x2","type":"function_call","call_id":"call_1","name":"clock","arguments":"{}"}}`,
	`{"type":"conversation.item.create","event_id":"e","item":{"id":"x3","type":"function_call_output","call_id":"call_1","output":"noon"}}`,
}

// place is one value in an example, with the function that replaces it.
type place struct {
	path  string // as an error event names it
	value any
	put   func(any)
}

// places returns every value of a document, except the event itself.
func places(doc any, path string, put func(any)) []place {
	out := []place{{path, doc, put}}
	switch doc := doc.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(doc)) {
			out = append(out, places(doc[name], strings.TrimPrefix(path+"."+name, "."), func(v any) { doc[name] = v })...)
		}
	case []any:
		for i := range doc {
			out = append(out, places(doc[i], path+"["+strconv.Itoa(i)+"]", func(v any) { doc[i] = v })...)
		}
	}
	return out
}

// free are objects whose members are the client's own.
var free = []string{"session.tracing.metadata.", "session.tools[0].parameters.", "response.tools[0].parameters."}

// also are the JSON types that a field takes besides the one of the example.
var also = map[string]string{
	"session.max_output_tokens": "string", "response.max_output_tokens": "string",
	"session.tool_choice": "object", "response.tool_choice": "object",
	"session.tracing": "string", "session.truncation": "string", "session.prompt.variables.mood": "object",
	"session.audio.output.voice": "object", "response.audio.output.voice": "object",
}

// texts are the fields that take any text. All other fields for texts take certain values only.
var texts = []string{
	"model", "instructions", "workflow_name", "group_id", "mood", "description", "language", "prompt", "voice", "text", "transcript", "topic",
	"item.id", "call_id", "arguments", "output", "item.name", "a", "version",
}

// answersTo are the error codes for garbage in a field.
var answersTo = []string{
	wire.CodeInvalidType, wire.CodeInvalidValue, wire.CodeMissingField, "prompt_not_found", "item_create_invalid_previous_item_id",
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	}
	return "object"
}

// rubbish returns values of every JSON type. No field with an enumeration or a range takes them, except the empty text, 0.5 and true.
func rubbish() []any {
	var deep any = "bottom"
	for range 20 {
		deep = map[string]any{"in": []any{deep}}
	}
	return []any{nil, "", noSuchThing, strings.Repeat("long ", 1000), -1.0, 1e300, 0.5, true, []any{}, []any{nil, 1.0}, map[string]any{}, deep}
}

const noSuchThing = "\x00 no such thing"

// refuses reports whether the server must refuse junk in this place.
func (p place) refuses(junk any) bool {
	if slices.ContainsFunc(free, func(f string) bool { return strings.HasPrefix(p.path, f) }) || junk == nil {
		return false
	}
	if kind := kindOf(junk); kind != kindOf(p.value) && kind != also[p.path] {
		return true
	}
	isText := slices.ContainsFunc(texts, func(t string) bool { return p.path == t || strings.HasSuffix(p.path, "."+t) })
	return junk == -1.0 || junk == 1e300 || junk == noSuchThing && !isText
}

func TestGarbageInEveryField(t *testing.T) {
	for _, media := range []bool{true, false} {
		for _, example := range append([]string{wholeSession, wholeRequest}, wholeItems...) {
			story(t, fmt.Sprintf("over WebRTC %t: %.60s", media, example), func(t *testing.T) {
				c := onStage(t, media, wire.DefaultSession()).start()
				c.g.Expect(c.outcome(example)).To(gomega.BeEmpty(), "the example is in order")
				var doc map[string]any
				c.g.Expect(json.Unmarshal([]byte(example), &doc)).To(gomega.Succeed())
				before := c.session()
				for _, p := range places(doc, "", nil) {
					if p.put == nil || p.path == "type" || p.path == "event_id" {
						continue
					}
					for _, junk := range rubbish() {
						if c.garbage(doc, p, junk) {
							before = c.session()
						}
					}
					c.g.Expect(c.session()).To(gomega.Equal(before), "what was refused of %s has changed the session", p.path)
				}
				expectSessionWorks(c)
			})
		}
	}
}

// garbage puts junk into a place, sends the event, and checks the answer. It reports whether the server took the event.
func (c *caller) garbage(doc map[string]any, p place, junk any) bool {
	c.t.Helper()
	p.put(junk)
	text, err := json.Marshal(doc)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.put(p.value)
	what := fmt.Sprintf("%.40q as %s", fmt.Sprint(junk), p.path)
	code, param, _ := strings.Cut(c.outcome(string(text)), " ")
	if code == "" {
		c.g.Expect(p.refuses(junk)).To(gomega.BeFalse(), what+" was taken")
		return true
	}
	c.g.Expect(answersTo).To(gomega.ContainElement(code), what)
	parent := p.path[:max(0, strings.LastIndexAny(p.path, ".["))]
	related := strings.HasPrefix(param, parent) || strings.HasPrefix(p.path, param)
	c.g.Expect(related && param != "").To(gomega.BeTrue(), "%s is answered with %s of %q", what, code, param)
	return false
}

// session returns the present session object.
func (c *caller) session() wire.Session {
	c.t.Helper()
	c.send(`{"type":"session.update","session":{"type":"realtime"}}`)
	return next[*wire.SessionUpdated](c, "session.updated").Session
}

// outcome sends an event whose event_id is "e". It returns "", or the code and the param of the error that answers it. It undoes
// what the event has begun.
func (c *caller) outcome(text string) string {
	c.t.Helper()
	c.Skip()
	c.send(text)
	for {
		switch e := c.First().(type) {
		case *wire.ErrorEvent:
			if deref(e.Error.EventID) == "e" {
				return e.Error.Code + " " + deref(e.Error.Param)
			}
		case *wire.SessionUpdated:
			c.settle(`"tracing":null`) // tracing cannot be changed while it is on
			return ""
		case *wire.ResponseCreated:
			c.send(`{"type":"response.cancel","response_id":"` + e.Response.ID + `"}`)
			first(c, "response.done")
			return ""
		case *wire.ConversationItemDone:
			if e.Item.Role != "assistant" {
				id, _ := json.Marshal(e.Item.ID)
				c.send(`{"type":"conversation.item.delete","item_id":` + string(id) + `}`)
				first(c, "conversation.item.deleted")
				return ""
			}
		}
	}
}
