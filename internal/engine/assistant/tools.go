package assistant

// This file calls tools and says their results.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/engine/fit"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// toolCall returns the tool call that the user's last words ask for.
func toolCall(r pipeline.Request) (pipeline.ToolCall, bool) {
	if len(r.Tools) == 0 || r.ToolChoice == "none" || len(r.Messages) == 0 {
		return pipeline.ToolCall{}, false
	}
	if last := r.Messages[len(r.Messages)-1]; last.Result != nil || last.Role == pipeline.RoleSystem {
		return pipeline.ToolCall{}, false
	}
	said := lastSaid(r.Messages)
	i := slices.IndexFunc(r.Tools, func(t pipeline.Tool) bool { return t.Name == r.ToolChoice })
	if i < 0 {
		i = wanted(r.Tools, words(said))
	}
	if i < 0 && r.ToolChoice == "required" {
		i = 0
	}
	if i < 0 {
		return pipeline.ToolCall{}, false
	}
	t := r.Tools[i]
	return pipeline.ToolCall{Name: t.Name, Arguments: fit.Arguments(t.Parameters, fit.Source{
		Text: said, Subject: subject(said, nameWords(t.Name)), Numbers: numbers(words(said)),
	})}, true
}

// subject returns the argument for a tool: the words after the words of its name, without small words at the begin. If there are
// none, it returns all that the user said.
func subject(said string, name []string) string {
	fields := strings.Fields(said)
	at := 0
	for i, f := range fields {
		if slices.Contains(name, bare(f)) {
			at = i + 1
		}
	}
	for at < len(fields) && slices.Contains([]string{"in", "for", "at", "of", "about", "to", "on", "from", "the", "a", "an", "is", "tool", "with"}, bare(fields[at])) {
		at++
	}
	if at == len(fields) {
		return said
	}
	return strings.TrimRight(strings.Join(fields[at:], " "), ".,!?")
}

func bare(word string) string { return strings.ToLower(strings.Trim(word, ".,!?;:\"()[]")) }

// wanted returns the index of the tool whose name the user says. If the user says none, it returns the tool with the highest score: 2
// for each word of the name that the user says, 1 for each word of the description, and at least 3. It returns -1 for none.
func wanted(tools []pipeline.Tool, said []string) int {
	best, most := -1, 0
	for i, t := range tools {
		name := nameWords(t.Name)
		if has(said, strings.Join(name, " ")) {
			return i
		}
		score := 2*common(name, said) + common(words(t.Description), said)
		if score > most && score >= 3 {
			best, most = i, score
		}
	}
	return best
}

// common returns how many different meaningful words a and b have in common.
func common(a, said []string) int {
	n := 0
	for i, w := range a {
		if len(w) > 3 && slices.Contains(said, w) && slices.Index(a, w) == i {
			n++
		}
	}
	return n
}

// nameWords returns the words of names such as get_weather, get-weather and getWeather.
func nameWords(name string) []string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			b.WriteByte(' ')
			continue
		case unicode.IsUpper(r) && i > 0:
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

func numbers(w []string) []float64 {
	var out []float64
	for i := 0; i < len(w); {
		n, took := readNumber(w[i:], true)
		if took > 0 {
			out = append(out, float64(n))
		}
		i += max(took, 1)
	}
	return out
}

// toolAnswer returns an answer with the results of the tools at the end of the conversation.
func toolAnswer(messages []pipeline.Message) string {
	var said []string
	for i := len(messages) - 1; i >= 0 && (messages[i].Result != nil || messages[i].Call != nil); i-- {
		if r := messages[i].Result; r != nil {
			said = append(said, readable(r.Output))
		}
	}
	slices.Reverse(said)
	return "Here is what I found: " + strings.Join(said, "; ") + "."
}

// readable returns the output of a tool as text to speak: for a JSON object its values with their names.
func readable(output string) string {
	var object map[string]any
	if err := json.Unmarshal([]byte(output), &object); err != nil || len(object) == 0 {
		return strings.TrimRight(strings.Trim(output, "\""), ".")
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s %v", strings.Join(nameWords(k), " "), object[k]))
	}
	return strings.Join(parts, ", ")
}
