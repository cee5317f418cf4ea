package conversation

// Changes of the session object: which are taken, refused or ignored.

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

const twoTools = `"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}},{"type":"function","name":"tide","parameters":{"type":"object"}}]`

// settingsTester holds the settings of one session and a client's view of them.
type settingsTester struct {
	t *testing.T
	g *gomega.WithT
	*Settings
}

func plain() *pipeline.Pipeline { return scripted.New(scripted.Options{}) }

// beginSettings returns the default settings of a session with the pipeline p.
func beginSettings(t *testing.T, p *pipeline.Pipeline, locks ...string) settingsTester {
	t.Helper()
	return settingsTester{t, gomega.NewWithT(t), NewSettings(env.System(), p, wire.DefaultSession(), locks)}
}

// update changes the settings by a client's patch, whose members are fields, and returns the events.
func (r settingsTester) update(fields string) []wire.ServerEvent {
	r.t.Helper()
	events, refused := r.Update(wire.Raw(`{"type":"`+r.Current().Type+`",`+fields+`}`), false)
	r.g.Expect(refused).To(gomega.BeNil(), fields)
	return events
}

// refuses expects that an update is refused and that the settings do not change. It returns the error text.
func (r settingsTester) refuses(fields, code, param string) string {
	r.t.Helper()
	before := string(Object(&r.current))
	events, refused := r.Update(wire.Raw(`{"type":"`+r.Current().Type+`",`+fields+`}`), false)
	r.g.Expect(events).To(gomega.BeEmpty(), fields)
	r.g.Expect(string(Object(&r.current))).To(gomega.Equal(before), "nothing of what was refused holds")
	return r.failed(refused, code, param, fields)
}

// failed expects that refused has this code and parameter. It returns the error text.
func (r settingsTester) failed(refused *room.Failure, code, param, of string) string {
	r.t.Helper()
	r.g.Expect(refused).NotTo(gomega.BeNil(), of)
	r.g.Expect([]string{refused.Code, refused.Param, refused.Type}).To(gomega.Equal([]string{code, param, ""}), of)
	return refused.Message
}

// request decodes a response.create; fields are the members of its response object.
func (r settingsTester) request(fields string) *wire.ResponseParams {
	r.t.Helper()
	e, err := wire.DecodeClient([]byte(`{"type":"response.create","response":{` + fields + `}}`))
	r.g.Expect(err).NotTo(gomega.HaveOccurred(), fields)
	return &e.(*wire.ResponseCreate).Response
}

// refusesRequest expects that a response.create is refused.
func (r settingsTester) refusesRequest(fields, code, param string) {
	r.t.Helper()
	r.failed(r.MayRespond(r.request(fields), false), code, param, fields)
}

func TestUnsupportedSettingsComeBackAsNull(t *testing.T) {
	r := beginSettings(t, plain())
	events := r.update(`"audio":{"input":{"noise_reduction":{"type":"far_field"}}},"include":["item.input_audio_transcription.logprobs"]`)
	r.g.Expect(events).To(gomega.HaveLen(1))
	s := events[0].(*wire.SessionUpdated).Session
	r.g.Expect(s.Audio.Input.NoiseReduction).To(gomega.BeNil())
	r.g.Expect(s.Include).To(gomega.BeNil())
	r.g.Expect(r.Logprobs()).To(gomega.BeFalse())
}

func TestToolChoiceNamesAKnownTool(t *testing.T) {
	r := beginSettings(t, plain())
	r.refuses(`"tool_choice":{"type":"function","name":"tide"}`, "invalid_value", "session.tool_choice")
	r.refuses(`"tool_choice":{"type":"mcp","server_label":"x"}`, "invalid_value", "session.tool_choice")
	r.update(twoTools + `,"tool_choice":{"type":"function","name":"tide"}`)
	r.refuses(`"tools":[]`, "invalid_value", "session.tool_choice")
	r.refusesRequest(`"tool_choice":{"type":"function","name":"sing"}`, "invalid_value", "response.tool_choice")
	r.refusesRequest(`"tools":[]`, "invalid_value", "response.tool_choice")
	r.refusesRequest(`"tools":[],"tool_choice":"required"`, "invalid_value", "response.tool_choice")
	r.refusesRequest(`"tools":[{"type":"mcp","server_label":"x"}],"tool_choice":"auto"`, "invalid_value", "response.tools[0].server_url")
	r.g.Expect(r.ModelRequest(nil).ToolChoice).To(gomega.Equal("tide"))
}

// The agents SDKs refuse them too, before they are sent (openai-agents-python#3441).
func TestToolsOfOneName(t *testing.T) {
	r := beginSettings(t, plain())
	const twins = `"tools":[{"type":"mcp","server_label":"clock","server_url":"http://x"},{"type":"function","name":"clock"},{"type":"function","name":"tide"},{"type":"function","name":"clock"}]`
	r.update(twoTools)
	message := r.refuses(`"instructions":"x",`+twins, "invalid_value", "session.tools[3].name")
	r.g.Expect(message).To(gomega.ContainSubstring(`"clock"`))
	r.refusesRequest(`"tools":[{"type":"function","name":"a"},{"type":"function","name":"a"}]`, "invalid_value", "response.tools[1].name")
	r.update(`"audio":{"output":{"speed":1.5}}`)
	r.g.Expect(r.Current().Tools).To(gomega.HaveLen(2), "nothing of what was refused holds")
	r.g.Expect(r.Current().Instructions).To(gomega.BeEmpty())
}

func TestModelRequest(t *testing.T) {
	r := beginSettings(t, plain())
	r.update(twoTools + `,"model":"m","parallel_tool_calls":false,"instructions":"Be brief."`)
	q := r.ModelRequest(nil)
	r.g.Expect(q).To(gomega.Equal(pipeline.Request{
		Model: "m", Instructions: "Be brief.", ToolChoice: "auto", Tools: []pipeline.Tool{
			{Name: "clock", Parameters: wire.Raw(`{"type":"object"}`)}, {Name: "tide", Parameters: wire.Raw(`{"type":"object"}`)},
		},
	}))
	q = r.ModelRequest(r.request(`"tools":[{"type":"function","name":"sing","description":"sings"}],"tool_choice":"required","parallel_tool_calls":true`))
	r.g.Expect(q).To(gomega.Equal(pipeline.Request{
		Model: "m", Instructions: "Be brief.", ToolChoice: "required", ParallelToolCalls: true,
		Tools: []pipeline.Tool{{Name: "sing", Description: "sings"}},
	}))
	r.g.Expect(r.ModelRequest(r.request(`"tools":[]`)).Tools).To(gomega.BeEmpty())
}

func withPrompt() *pipeline.Pipeline {
	p := plain()
	p.Prompts = map[string]pipeline.Prompt{"pmpt_1": {Version: "2", Text: "You are {{name}} of {{place}}."}}
	return p
}

func TestPromptsTextStandsForTheInstructions(t *testing.T) {
	r := beginSettings(t, withPrompt())
	r.g.Expect(r.Instructions(nil)).To(gomega.BeEmpty())
	r.update(`"prompt":{"id":"pmpt_1","version":"2","variables":{"name":"Ann","place":{"type":"input_text","text":"Bree"}}}`)
	r.g.Expect(r.Instructions(nil)).To(gomega.Equal("You are Ann of Bree."))
	r.update(`"instructions":"Be brief."`)
	r.g.Expect(r.Instructions(nil)).To(gomega.Equal("Be brief."))
	r.g.Expect(r.Instructions(r.request(`"prompt":{"id":"pmpt_1","variables":{"name":"Bob"}}`))).To(gomega.Equal("You are Bob of {{place}}."))
	r.g.Expect(r.Instructions(r.request(`"prompt":{"id":"pmpt_1"},"instructions":"Mine."`))).To(gomega.Equal("Mine."))
	r.g.Expect(r.Instructions(r.request(`"instructions":""`))).To(gomega.BeEmpty(), "empty instructions are instructions")
}

func TestUnknownPromptsAreRefused(t *testing.T) {
	r := beginSettings(t, withPrompt())
	r.refuses(`"prompt":{"id":"pmpt_2"}`, "prompt_not_found", "session.prompt.id")
	r.refuses(`"prompt":{"id":"pmpt_1","version":"1"}`, "prompt_not_found", "session.prompt.version")
	r.refusesRequest(`"prompt":{"id":"pmpt_2"}`, "prompt_not_found", "response.prompt.id")
	p := plain()
	p.Prompts = nil
	r = beginSettings(t, p)
	message := r.refuses(`"prompt":{"id":"pmpt_1"}`, "prompt_not_found", "session.prompt.id")
	r.g.Expect(message).To(gomega.ContainSubstring("keeps no prompts"))
}

func TestTracingStaysAsItIs(t *testing.T) {
	r := beginSettings(t, plain())
	r.g.Expect(r.Tracing()).To(gomega.Equal(Tracing{}))
	r.update(`"tracing":"auto"`) // the agents SDK sends the names in a second update
	r.g.Expect(r.Tracing()).To(gomega.Equal(Tracing{On: true}))
	updated := r.update(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`)[0].(*wire.SessionUpdated).Session
	r.g.Expect(string(updated.Tracing)).To(gomega.MatchJSON(`{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`))
	r.refuses(`"tracing":"auto"`, "invalid_value", "session.tracing")
	r.update(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`)
	r.g.Expect(r.Tracing()).To(gomega.Equal(Tracing{On: true, Workflow: "support", Group: "g7"}))
	r.update(`"tracing":null`)
	r.g.Expect(r.Tracing()).To(gomega.Equal(Tracing{}))
	r.update(`"tracing":{"workflow_name":"` + strings.Repeat("w", maxTraceName+1) + `"}`)
	r.g.Expect(r.Tracing().Workflow).To(gomega.HaveLen(maxTraceName))
}

// picky is a recogniser and a synthesizer that support few settings.
type picky struct {
	pipeline.Transcriber
	pipeline.Synthesizer
}

// NegotiateConfig implements pipeline.ConfigNegotiator.
func (picky) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	if c.Language == "xx" {
		return c, errors.New("want \"en\"")
	}
	c.Prompt = ""
	return c, nil
}

// CheckVoice implements pipeline.VoiceChecker.
func (picky) CheckVoice(name string) error {
	if name == "choir" {
		return fmt.Errorf("%w %q: there is solo", pipeline.ErrUnknownVoice, name)
	}
	return nil
}

// The server refuses settings that the pipeline does not support, or returns them as null.
func TestSettingsThatThePipelineDoesNotSupport(t *testing.T) {
	p := plain()
	p.Transcriber, p.Synthesizer = picky{Transcriber: p.Transcriber}, picky{Synthesizer: p.Synthesizer}
	r := beginSettings(t, p)
	message := r.refuses(`"audio":{"output":{"voice":"choir"}}`, "invalid_value", "session.audio.output.voice")
	r.g.Expect(message).To(gomega.ContainSubstring("there is solo"))
	r.refusesRequest(`"audio":{"output":{"voice":{"id":"choir"}}}`, "invalid_value", "response.audio.output.voice")
	r.refuses(`"audio":{"input":{"transcription":{"language":"xx"}}}`, "invalid_value", "session.audio.input.transcription")
	events := r.update(`"audio":{"input":{"transcription":{"language":"en","model":"m","prompt":"tea, coffee"}}}`)
	r.g.Expect(*events[0].(*wire.SessionUpdated).Session.Audio.Input.Transcription).
		To(gomega.Equal(wire.Transcription{Model: "m", Language: "en"}))
	r.g.Expect(r.TranscribeConfig(true)).To(gomega.Equal(pipeline.TranscribeConfig{Model: "m", Language: "en", Live: true}))
	r.update(`"audio":{"input":{"transcription":null}}`)
	r.g.Expect(r.TranscribeConfig(false)).To(gomega.Equal(pipeline.TranscribeConfig{}))
}

// A field of the beta, or one that this server does not have, is refused, and the error names its replacement; an unknown name is ignored.
func TestRefusedNames(t *testing.T) {
	r := beginSettings(t, plain())
	message := r.refuses(`"voice":"slt"`, "unknown_parameter", "session.voice")
	r.g.Expect(message).To(gomega.ContainSubstring("session.audio.output.voice"))
	r.refuses(`"instructions":"x","temperature":0.7`, "unknown_parameter", "session.temperature")
	r.refuses(`"turn_detection":{"type":"server_vad"}`, "unknown_parameter", "session.turn_detection")
	r.refuses(`"turn_detection":null`, "unknown_parameter", "session.turn_detection")
	r.refuses(`"reasoning":{"effort":"low"}`, "unsupported_parameter", "session.reasoning")
	r.update(`"temperature":null,"reasoning":{},"no_such_field":{"effort":"low"},"audio":{"input":{"transcription":{"keywords":[],"delay":null}}}`)
	for name, refusal := range refusedSettings {
		r.g.Expect(r.refuses(`"`+name+`":1`, refusal.of("", name).Code, "session."+name)).To(gomega.ContainSubstring(refusal.instead))
	}
	for name, refusal := range refusedTranscription {
		message := r.refuses(`"audio":{"input":{"transcription":{"`+name+`":["en"]}}}`, "unsupported_parameter", "session.audio.input.transcription."+name)
		r.g.Expect(message).To(gomega.ContainSubstring(refusal.instead))
	}
}

func TestRefusedNamesInAResponse(t *testing.T) {
	g := gomega.NewWithT(t)
	check := func(response string) *wire.DecodeError {
		return CheckNames(wire.Raw(`{"type":"response.create","response":{` + response + `}}`))
	}
	bad := check(`"modalities":["text"]`)
	g.Expect(bad).To(gomega.HaveField("Code", "unknown_parameter"))
	g.Expect(bad.Message).To(gomega.ContainSubstring("response.output_modalities"))
	for name := range refusedAsked {
		g.Expect(check(`"` + name + `":1`)).To(gomega.HaveField("Param", "response."+name))
	}
	g.Expect(check(`"reasoning":{"effort":"high"}`)).To(gomega.HaveField("Code", "unsupported_parameter"))
	g.Expect(check(`"temperature":null,"metadata":{"voice":"x"}`)).To(gomega.BeNil())
	g.Expect(CheckNames(wire.Raw(`{"type":"response.create"}`))).To(gomega.BeNil())
}

func TestMergeWithoutPipeline(t *testing.T) {
	g := gomega.NewWithT(t)
	set := wire.DefaultSession()
	g.Expect(Merge(nil, nil, &set, wire.Raw(`{"audio":{"output":{"voice":"any"}},"include":["`+wire.IncludeLogprobs+`"]}`))).To(gomega.Succeed())
	g.Expect(set.Audio.Output.Voice).To(gomega.Equal("any"))
	g.Expect(set.Include).To(gomega.BeNil())
	before := set.Clone()
	g.Expect(Merge(nil, nil, &set, wire.Raw(`{"instructions":"x","prompt":{"id":"p"}}`))).NotTo(gomega.Succeed())
	g.Expect(set).To(gomega.Equal(before))
}

func TestMachineConfig(t *testing.T) {
	r := beginSettings(t, plain())
	r.Client.Reports = true
	r.g.Expect(r.MachineConfig(true)).To(gomega.Equal(coord.Config{Interrupt: true, CreateResponse: true, Reports: true}))
	r.update(`"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":false,"interrupt_response":true}}}`)
	r.g.Expect(r.MachineConfig(false)).To(gomega.Equal(coord.Config{Interrupt: true}))
	r.update(`"audio":{"input":{"turn_detection":null}}`)
	r.g.Expect(r.TurnDetection()).To(gomega.BeNil())
	r.g.Expect(r.MachineConfig(true)).To(gomega.Equal(coord.Config{Reports: true}))
	only := Transcribing(wire.DefaultSession())
	only.Audio.Input.TurnDetection.CreateResponse = true // Merge refuses this
	r.g.Expect(NewSettings(env.System(), plain(), only, nil).MachineConfig(false)).To(gomega.Equal(coord.Config{}))
}

// A setting that does not change is not checked again: the server's own settings may have what its pipeline refuses.
func TestUnchangedSettingsAreNotRefused(t *testing.T) {
	p := plain()
	p.Synthesizer = picky{Synthesizer: p.Synthesizer}
	first := wire.DefaultSession()
	first.ID, first.ExpiresAt = "sess_1", 7
	first.Audio.Output.Voice, first.Prompt = "choir", wire.Raw(`{"id":"pmpt_gone"}`)
	r := settingsTester{t, gomega.NewWithT(t), NewSettings(env.System(), p, first, nil)}
	r.update(`"instructions":"x","audio":{"output":{"voice":"choir"}},"prompt":{"id":"pmpt_gone"}`)
	r.g.Expect(r.Current()).To(gomega.And(gomega.HaveField("Instructions", "x"), gomega.HaveField("ID", "sess_1"), gomega.HaveField("ExpiresAt", int64(7))))
}

// The settings of a session have a largest size: nothing else limits what a session keeps of them.
func TestSettingsHaveALargestSize(t *testing.T) {
	r := beginSettings(t, plain())
	r.update(`"instructions":"` + strings.Repeat("x", 1<<20) + `"`)
	told := r.refuses(`"tools":[{"type":"function","name":"f","description":"`+strings.Repeat("y", 1<<20)+`"}]`, "session_too_large", "session")
	r.g.Expect(told).To(gomega.ContainSubstring("at most 2097152"))
	r.update(`"instructions":"short"`)
	r.update(`"tools":[{"type":"function","name":"f","description":"` + strings.Repeat("y", 1<<20) + `"}]`)
}

// The settings of all calls share a budget, beside the first 64 KiB of each.
func TestSettingsCountForTheMemory(t *testing.T) {
	budget := account.New(3 << 20)
	large := `"instructions":"` + strings.Repeat("x", 1<<20) + `"`
	one, other := beginSettings(t, plain()), beginSettings(t, plain())
	for _, r := range []settingsTester{one, other} {
		r.ShareMemory(account.Purse{Budget: budget, Payer: "alice"})
	}
	one.update(large)
	_, refused := other.Update(wire.Raw(`{"type":"realtime",`+large+`}`), false)
	one.g.Expect(refused).To(gomega.HaveField("Code", "server_busy"))
	one.g.Expect(other.Current().Instructions).To(gomega.BeEmpty())
	other.update(`"instructions":"short"`)
	one.update(`"instructions":"short"`)
	one.g.Expect(budget.Free()).To(gomega.Equal(int64(3 << 20)))
	other.update(large)
	one.g.Expect(budget.Free()).To(gomega.BeNumerically("<", 2<<20+ownSettings))
	other.Close()
	one.g.Expect(budget.Free()).To(gomega.Equal(int64(3 << 20)))
}
