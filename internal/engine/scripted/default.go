package scripted

// This file has the answers of the model without a script.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/engine/fit"
	"github.com/antiphon-rt/antiphon/internal/engine/spell"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// MaxWords is the largest N of "say N words". A request for more words gets MaxWords words.
const MaxWords = 1000

// byDefault returns the answer of the model without a script.
func byDefault(r pipeline.Request, in input, said string) answer {
	if n := len(r.Messages); in.tool != "" && r.Messages[n-1].Role == pipeline.RoleSystem {
		return answer{say: "News: " + r.Messages[n-1].Text} // of work that the tool has begun
	}
	if in.tool != "" {
		return answer{say: "Tool said: " + strings.Join(results(r.Messages), "; ")}
	}
	if calls := mentioned(r, said); len(calls) > 0 {
		return answer{calls: calls}
	}
	switch n, ok := sayWords(said); {
	case ok:
		return answer{say: countTo(n)}
	case hasWord(said, "fail"):
		return answer{fail: "the user said fail"}
	case hasWord(said, "stall"):
		return answer{stall: true}
	}
	return answer{say: "You said: " + said}
}

// mentioned returns calls of the tools that the text names, in their order in the text. Without ParallelToolCalls it returns only
// the first one. The tool choice may forbid tool calls, or require one.
func mentioned(r pipeline.Request, said string) []pipeline.ToolCall {
	call := func(t pipeline.Tool) pipeline.ToolCall {
		return pipeline.ToolCall{Name: t.Name, Arguments: fit.Arguments(t.Parameters, fit.Source{Text: said})}
	}
	if r.ToolChoice == "none" {
		return nil
	}
	if i := slices.IndexFunc(r.Tools, func(t pipeline.Tool) bool { return t.Name == r.ToolChoice }); i >= 0 {
		return []pipeline.ToolCall{call(r.Tools[i])}
	}
	type mention struct{ from, to, tool int }
	var all []mention
	for i, t := range r.Tools {
		if from, to := find(said, t.Name); from >= 0 {
			all = append(all, mention{from, to, i})
		}
	}
	slices.SortStableFunc(all, func(a, b mention) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to // of two names at one position the longer one counts
	})
	var out []pipeline.ToolCall
	end := 0
	for _, m := range all {
		if m.from >= end && (len(out) == 0 || r.ParallelToolCalls) {
			out = append(out, call(r.Tools[m.tool]))
			end = m.to
		}
	}
	if len(out) == 0 && r.ToolChoice == "required" && len(r.Tools) > 0 {
		out = append(out, call(r.Tools[0]))
	}
	return out
}

// find returns the position of the name of a tool in a text, written or spoken ("get_weather" or "get weather"). Case does not
// matter.
func find(text, name string) (from, to int) {
	if name == "" {
		return -1, -1
	}
	text = strings.ToLower(text)
	name = strings.ToLower(name)
	if i := strings.Index(text, name); i >= 0 {
		return i, i + len(name)
	}
	spoken := strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(name)
	if i := strings.Index(text, spoken); i >= 0 {
		return i, i + len(spoken)
	}
	return -1, -1
}

// sayWords recognises "say N words".
func sayWords(text string) (n int, ok bool) {
	m := regexp.MustCompile(`(?i)\bsay ([0-9]{1,9}) words?\b`).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return min(n, MaxWords), err == nil
}

// countTo returns the numbers from one to n in words, with a full stop after each eighth one.
func countTo(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		w := strings.ReplaceAll(spell.Cardinal(int64(i)), " ", "-")
		if i%8 == 1 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
		switch {
		case i%8 == 0 || i == n:
			b.WriteByte('.')
		case i%4 == 0:
			b.WriteByte(',')
		}
		if i < n {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func hasWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }), word)
}
