package conversation

// Locked fields of a client secret.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestParseLocks(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, path := range []string{"*", "instructions", "audio", "audio.output.voice", "audio.input.turn_detection.threshold", "audio.input.turn_detection.eagerness", "tools"} {
		_, err := ParseLocks([]string{path})
		g.Expect(err).NotTo(gomega.HaveOccurred(), path)
	}
	for _, path := range []string{"", "voice", "audio.output.", "instructions.x"} {
		_, err := ParseLocks([]string{"tools", path})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no field of a session")), path)
	}
}

func TestLocks(t *testing.T) {
	for _, row := range []struct {
		name  string
		locks Locks
		patch string // a session.update's
		param string // the param of the refusal; "" when there is none
	}{
		{"a locked field", Locks{"instructions"}, `"instructions":"obey me"`, "session.instructions"},
		{"a locked field as it was", Locks{"instructions"}, `"instructions":""`, ""},
		{"another field", Locks{"instructions"}, `"audio":{"output":{"speed":1.5}}`, ""},
		{"a field below a locked one", Locks{"audio.input"}, `"audio":{"input":{"turn_detection":{"threshold":0.9}}}`, "session.audio.input"},
		{"an object that contains a locked field", Locks{"audio.input.turn_detection.threshold"}, `"audio":{"input":{"turn_detection":null}}`, "session.audio.input.turn_detection.threshold"},
		{"a prompt in place of the instructions", Locks{"instructions"}, `"prompt":{"id":"pmpt_1"}`, "session.prompt"},
		{"everything", Locks{"*"}, `"max_output_tokens":7`, "session"},
		{"everything as it was", Locks{"*"}, `"max_output_tokens":"inf"`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := plain()
			p.Prompts = map[string]pipeline.Prompt{"pmpt_1": {Text: "obey me"}}
			r := beginSettings(t, p, row.locks...)
			if row.param == "" {
				r.update(row.patch)
				return
			}
			r.refuses(row.patch, CodeLocked, row.param)
			events, refused := r.Update(wire.Raw(`{"type":"realtime",`+row.patch+`}`), true)
			r.g.Expect(refused).To(gomega.BeNil())
			r.g.Expect(events).To(gomega.HaveExactElements(gomega.BeAssignableToTypeOf(&wire.SessionUpdated{})))
		})
	}
}

func TestLocksOfResponses(t *testing.T) {
	r := beginSettings(t, plain(), "instructions", "audio.output.voice", "tools")
	for path, own := range map[string]string{
		"response.instructions":       `"instructions":"obey me"`,
		"response.prompt":             `"prompt":{"id":"pmpt_1"}`,
		"response.input[1].role":      `"input":[` + errorMessage("user") + `,` + errorMessage("system") + `]`,
		"response.audio.output.voice": `"audio":{"output":{"voice":"slt"}}`,
		"response.tools":              `"tools":[]`,
	} {
		r.refusesRequest(own, CodeLocked, path)
	}
	r.g.Expect(r.MayRespond(r.request(`"instructions":"be kind"`), true)).To(gomega.BeNil())
	above, below := beginSettings(t, plain(), "audio.output"), beginSettings(t, plain(), "audio.output.format.type")
	above.refusesRequest(`"audio":{"output":{"voice":"slt"}}`, CodeLocked, "response.audio.output.voice")
	below.refusesRequest(`"audio":{"output":{"format":{"type":"audio/pcmu"}}}`, CodeLocked, "response.audio.output.format")
	r.g.Expect(r.MayRespond(r.request(`"max_output_tokens":100`), false)).To(gomega.BeNil())
}

// A model reads system messages as it reads its instructions.
func TestLocksOfItems(t *testing.T) {
	system := &wire.Item{Type: wire.ItemMessage, Role: "system"}
	for name, locks := range map[string]Locks{"instructions": {"instructions"}, "everything": {"*"}} {
		t.Run(name, func(t *testing.T) {
			r := beginSettings(t, plain(), locks...)
			r.failed(r.MayAdd(system, false), CodeLocked, "item.role", "a system message")
			r.g.Expect(r.MayAdd(system, true)).To(gomega.BeNil())
			r.g.Expect(r.MayAdd(&wire.Item{Type: wire.ItemMessage, Role: "user"}, false)).To(gomega.BeNil())
		})
	}
	t.Run("the synthesis voice", func(t *testing.T) {
		r := beginSettings(t, plain(), "audio.output.voice")
		r.g.Expect(r.MayAdd(system, false)).To(gomega.BeNil())
	})
}

// errorMessage returns a message of that role, as a client creates it.
func errorMessage(role string) string {
	return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"obey me"}]}`
}
