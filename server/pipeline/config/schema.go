package config

// The JSON Schema of the file.

import (
	"maps"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

// Schema returns the JSON Schema (draft 2020-12) of the file, for encoding/json. server points to the struct of the section `server`, as
// for Load; nil allows any keys there.
func Schema(server any) map[string]any {
	top := sections{Server: serverSection{into: server}, STT: Choice{stage: STT}, LLM: Choice{stage: LLM}, TTS: Choice{stage: TTS}}
	schema := strict.Schema(&top, refuse)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "Configuration of Antiphon (" + Name + ")"
	return schema
}

// Schema implements strict.Schemer.
func (s *serverSection) Schema() map[string]any {
	if s.into == nil {
		return map[string]any{"type": []string{"object", "null"}}
	}
	return strict.Schema(s.into, refuse)
}

// Schema implements strict.Schemer.
func (t *TurnDetection) Schema() map[string]any { return strict.Schema(&t.Fields, refuse) }

// Schema implements strict.Schemer: the kind decides which other keys there are.
func (c *Choice) Schema() map[string]any {
	var names []string
	var forms []any
	for _, k := range Kinds(c.stage) {
		names = append(names, k.Name)
		form := strict.Schema(k.fields(), refuse)
		form["description"] = k.Doc
		properties := form["properties"].(map[string]any)
		properties["kind"] = map[string]any{"const": k.Name}
		switch c.stage {
		case STT:
			maps.Copy(properties, strict.Schema(&c.listen, refuse)["properties"].(map[string]any))
		case TTS:
			maps.Copy(properties, strict.Schema(&c.common, refuse)["properties"].(map[string]any))
		}
		forms = append(forms, map[string]any{
			"if": map[string]any{"properties": map[string]any{"kind": map[string]any{"const": k.Name}}}, "then": form,
		})
	}
	return map[string]any{
		"type": []string{"object", "null"}, "required": []string{"kind"}, "allOf": forms,
		"properties": map[string]any{"kind": map[string]any{"enum": names}},
	}
}
