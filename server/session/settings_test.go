package session

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

const twoTools = `"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}},{"type":"function","name":"tide","parameters":{"type":"object"}}]`

// refuses sends an event whose event_id is "e" and wants it refused.
func (c *caller) refuses(text, code, param string) wire.Error {
	c.t.Helper()
	c.send(text)
	e := next[*wire.ErrorEvent](c, "error").Error
	c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID), e.Type}).To(gomega.Equal([]string{code, param, "e", "invalid_request_error"}), text)
	return e
}

func change(session string) string {
	return `{"type":"session.update","event_id":"e","session":{"type":"realtime",` + session + `}}`
}

func request(response string) string {
	return `{"type":"response.create","event_id":"e","response":{` + response + `}}`
}

func TestWhatIsNotThereComesBackAsNone(t *testing.T) {
	story(t, "noise reduction, MCP tools, probabilities", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send(change(`"audio":{"input":{"noise_reduction":{"type":"far_field"}}},"include":["item.input_audio_transcription.logprobs"],
			"tools":[{"type":"mcp","server_label":"x","server_url":"http://x"},{"type":"function","name":"clock"}]`))
		s := next[*wire.SessionUpdated](c, "session.updated").Session
		c.g.Expect(s.Audio.Input.NoiseReduction).To(gomega.BeNil())
		c.g.Expect(s.Include).To(gomega.BeNil())
		c.g.Expect(s.Tools).To(gomega.HaveExactElements(gomega.HaveField("Name", "clock")))
		c.g.Expect(next[*wire.MCPListToolsFailed](c, "mcp_list_tools.failed").ItemID).NotTo(gomega.BeEmpty())
		c.send(change(`"instructions":"Be brief."`))
		first(c, "session.updated")
		c.g.Expect(c.count("mcp_list_tools.failed")).To(gomega.Equal(1))
		c.g.Expect(c.count("error")).To(gomega.BeZero(), "the agents SDK sends all of its settings at once")
	})
}

func TestToolChoice(t *testing.T) {
	story(t, "it names a tool that is there", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.refuses(change(`"tool_choice":{"type":"function","name":"tide"}`), "invalid_value", "session.tool_choice")
		c.refuses(change(`"tool_choice":{"type":"mcp","server_label":"x"}`), "invalid_value", "session.tool_choice")
		c.settle(twoTools + `,"tool_choice":{"type":"function","name":"tide"}`)
		c.refuses(change(`"tools":[]`), "invalid_value", "session.tool_choice")
		c.refuses(request(`"tool_choice":{"type":"function","name":"sing"}`), "invalid_value", "response.tool_choice")
		c.refuses(request(`"tools":[]`), "invalid_value", "response.tool_choice")
		c.refuses(request(`"tools":[],"tool_choice":"required"`), "invalid_value", "response.tool_choice")
		c.refuses(request(`"tools":[{"type":"mcp","server_label":"x"}],"tool_choice":"auto"`), "invalid_value", "response.tools[0].type")
		c.ask("anything")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Name).To(gomega.Equal("tide"))
	})

	// A model that calls two tools where one was wanted: one call goes out.
	for parallel, calls := range map[string]int{"true": 2, "false": 1} {
		story(t, "parallel_tool_calls "+parallel, func(t *testing.T) {
			c := byWebSocket(t, byScript(t, `model: {replies: [{calls: [{name: clock}, {name: tide}]}]}`))
			c.settle(twoTools + `,"parallel_tool_calls":` + parallel)
			c.ask("both")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Status).To(gomega.Equal("completed"))
			c.g.Expect(done.Output).To(gomega.HaveLen(calls))
			c.g.Expect(c.count("response.function_call_arguments.done")).To(gomega.Equal(calls))
		})
	}
}

// TestToolsOfOneName: the agents SDKs refuse them too, before they are sent (openai-agents-python#3441).
func TestToolsOfOneName(t *testing.T) {
	story(t, "a call could mean either", func(t *testing.T) {
		c := byWebSocket(t, plain())
		const twins = `"tools":[{"type":"mcp","server_label":"clock"},{"type":"function","name":"clock"},{"type":"function","name":"tide"},{"type":"function","name":"clock"}]`
		c.settle(twoTools)
		e := c.refuses(change(`"instructions":"x",`+twins), "invalid_value", "session.tools[3].name")
		c.g.Expect(e.Message).To(gomega.ContainSubstring(`"clock"`))
		c.refuses(request(`"tools":[{"type":"function","name":"a"},{"type":"function","name":"a"}]`), "invalid_value", "response.tools[1].name")
		c.send(change(`"audio":{"output":{"speed":1.5}}`))
		s := next[*wire.SessionUpdated](c, "session.updated").Session
		c.g.Expect(s.Tools).To(gomega.HaveLen(2), "nothing of what was refused holds")
		c.g.Expect(s.Instructions).To(gomega.BeEmpty())
	})
}

func TestPrompts(t *testing.T) {
	const keeper = `
prompts:
  - {id: pmpt_1, version: "2", text: "You are {{name}} of {{place}}."}
`
	story(t, "a prompt's text stands for the instructions", func(t *testing.T) {
		p, l := remembered(byScript(t, keeper))
		c := byWebSocket(t, p)
		c.settle(`"prompt":{"id":"pmpt_1","version":"2","variables":{"name":"Ann","place":{"type":"input_text","text":"Bree"}}}`)
		c.answer()
		c.g.Expect(l.request().Instructions).To(gomega.Equal("You are Ann of Bree."))
		c.settle(`"instructions":"Be brief."`)
		c.answer()
		c.g.Expect(l.request().Instructions).To(gomega.Equal("Be brief."))
		c.send(request(`"prompt":{"id":"pmpt_1","variables":{"name":"Bob"}}`))
		first(c, "response.done")
		c.g.Expect(l.request().Instructions).To(gomega.Equal("You are Bob of {{place}}."))
		c.send(request(`"prompt":{"id":"pmpt_1"},"instructions":"Mine."`))
		first(c, "response.done")
		c.g.Expect(l.request().Instructions).To(gomega.Equal("Mine."))
	})

	story(t, "one that is not there is refused", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, keeper))
		c.refuses(change(`"prompt":{"id":"pmpt_2"}`), "prompt_not_found", "session.prompt.id")
		c.refuses(change(`"prompt":{"id":"pmpt_1","version":"1"}`), "prompt_not_found", "session.prompt.version")
		c.refuses(request(`"prompt":{"id":"pmpt_2"}`), "prompt_not_found", "response.prompt.id")
		p := plain()
		p.Prompts = nil
		c = byWebSocket(t, p)
		e := c.refuses(change(`"prompt":{"id":"pmpt_1"}`), "prompt_not_found", "session.prompt.id")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("keeps no prompts"))
	})
}

func TestTracing(t *testing.T) {
	story(t, "it is taken, recorded, and stays as it is", func(t *testing.T) {
		var log bytes.Buffer
		c := byWebSocket(t, plain())
		c.s.log = slog.New(slog.NewTextHandler(&log, nil))
		c.settle(`"tracing":"auto"`) // the agents SDK gives the names afterwards
		c.send(change(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`))
		updated := next[*wire.SessionUpdated](c, "session.updated").Session
		c.g.Expect(string(updated.Tracing)).To(gomega.MatchJSON(`{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`))
		c.refuses(change(`"tracing":"auto"`), "invalid_value", "session.tracing")
		c.settle(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`)
		c.settle(`"tracing":null`)
		c.g.Expect(log.String()).To(gomega.ContainSubstring("msg=tracing workflow=support group=g7"))
		c.g.Expect(bytes.Count(log.Bytes(), []byte("msg=tracing"))).To(gomega.Equal(2))
	})
}

func TestOwnInput(t *testing.T) {
	story(t, "what of a response's input cannot be is refused by its place", func(t *testing.T) {
		c := byWebSocket(t, plain())
		const message = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
		c.refuses(request(`"input":[`+message+`,{"type":"item_reference","id":"x"}]`), "item_not_found", "response.input[1].id")
		c.refuses(request(`"input":[`+message+`,{"type":"message","role":"user","content":[]}]`), "invalid_value", "response.input[1].content")
		c.refuses(request(`"input":[{"type":"mcp_approval_response","approval_request_id":"x","approve":true}]`), "invalid_value", "response.input[0].type")
		c.refuses(request(`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hm"},{"type":"input_audio","audio":"AAAA"}]}]`),
			"invalid_value", "response.input[0].content[1].transcript")
		c.refuses(request(`"metadata":{"a":7}`), "invalid_value", "response.metadata")
		goesOn(c)
	})
}

// picky is an ear and a voice that can do little.
type picky struct {
	pipeline.Transcriber
	pipeline.Synthesizer
}

// CanDo implements pipeline.Modest.
func (picky) CanDo(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	if c.Language == "xx" {
		return c, errors.New("want \"en\"")
	}
	c.Prompt = ""
	return c, nil
}

// CheckVoice implements pipeline.Voiced.
func (picky) CheckVoice(name string) error {
	if name == "choir" {
		return fmt.Errorf("%w %q: there is solo", pipeline.ErrUnknownVoice, name)
	}
	return nil
}

func TestWhatThePipelineCannotDo(t *testing.T) {
	story(t, "it is refused before it fails, or comes back as none", func(t *testing.T) {
		p := plain()
		p.Transcriber, p.Synthesizer = picky{Transcriber: p.Transcriber}, picky{Synthesizer: p.Synthesizer}
		c := byWebSocket(t, p)
		e := c.refuses(change(`"audio":{"output":{"voice":"choir"}}`), "invalid_value", "session.audio.output.voice")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("there is solo"))
		c.refuses(request(`"audio":{"output":{"voice":{"id":"choir"}}}`), "invalid_value", "response.audio.output.voice")
		c.refuses(change(`"audio":{"input":{"transcription":{"language":"xx"}}}`), "invalid_value", "session.audio.input.transcription")
		c.send(change(`"audio":{"input":{"transcription":{"language":"en","model":"m","prompt":"tea, coffee"}}}`))
		c.g.Expect(*next[*wire.SessionUpdated](c, "session.updated").Session.Audio.Input.Transcription).
			To(gomega.Equal(wire.Transcription{Model: "m", Language: "en"}))
		goesOn(c)
	})
}

func TestBetaNames(t *testing.T) {
	story(t, "a field of the beta is refused, and its place named; what nobody knows is passed over", func(t *testing.T) {
		c := byWebSocket(t, plain())
		e := c.refuses(change(`"voice":"slt"`), "unknown_parameter", "session.voice")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("session.audio.output.voice"))
		c.refuses(change(`"instructions":"x","temperature":0.7`), "unknown_parameter", "session.temperature")
		c.refuses(change(`"turn_detection":{"type":"server_vad"}`), "unknown_parameter", "session.turn_detection")
		c.refuses(change(`"turn_detection":null`), "unknown_parameter", "session.turn_detection")
		c.settle(`"temperature":null,"reasoning":{"effort":"low"}`)
		for name, place := range betaNames {
			c.g.Expect(beta(wire.Raw(`{"` + name + `":1}`))).To(gomega.MatchError(gomega.ContainSubstring(place)))
		}
	})
}

func TestBetaNamesInAResponse(t *testing.T) {
	story(t, "a response that is asked for with a field of the beta is refused, and the place named", func(t *testing.T) {
		c := byWebSocket(t, plain())
		e := c.refuses(request(`"modalities":["text"]`), "unknown_parameter", "response.modalities")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("response.output_modalities"))
		for name := range betaAsked {
			c.refuses(request(`"`+name+`":1`), "unknown_parameter", "response."+name)
		}
		c.send(request(`"temperature":null,"metadata":{"voice":"x"}`))
		next[*wire.ResponseCreated](c, "response.created")
	})
}

func TestSettingsWithoutPipeline(t *testing.T) {
	g := gomega.NewWithT(t)
	set := wire.DefaultSession()
	g.Expect(SettingsFor(nil, &set, wire.Raw(`{"audio":{"output":{"voice":"any"}},"include":["`+wire.IncludeLogprobs+`"]}`))).To(gomega.Succeed())
	g.Expect(set.Audio.Output.Voice).To(gomega.Equal("any"))
	g.Expect(set.Include).To(gomega.BeNil())
	before := set.Clone()
	g.Expect(SettingsFor(nil, &set, wire.Raw(`{"instructions":"x","prompt":{"id":"p"}}`))).NotTo(gomega.Succeed())
	g.Expect(set).To(gomega.Equal(before))
}
