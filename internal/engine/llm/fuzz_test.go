package llm

// The think filter and the merging of tool calls, with any input.

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// filtered returns the text without thoughts, when the text arrives in pieces of these sizes.
func filtered(text string, inside bool, sizes []byte) string {
	f := thinkFilter{inside: inside}
	var out string
	for i := 0; text != ""; i++ {
		n := len(text)
		if len(sizes) > 0 {
			n = min(n, 1+int(sizes[i%len(sizes)])%20)
		}
		out += f.push(text[:n])
		text = text[n:]
	}
	return out + f.flush()
}

func TestThinkFilter(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"Hello":                                 "Hello",
		"<think>a</think>b":                     "b",
		"a<think>b</think>c":                    "ac",
		"<think>a<b></b></think>c":              "c",
		"<THINK>a</Think>b":                     "b",
		"<thinking>a</think>b</thinking>c":      "c",
		"[THINK]a[/THINK]b":                     "b",
		"<think>a":                              "",
		"a</think>b":                            "ab",
		"1 < 2, <b>x</b>, <thin":                "1 < 2, <b>x</b>, <thin",
		"<<think>a</think>b":                    "<b",
		"<thought>a</thought><think>b</think>c": "c",
		"ä<think>ü</think>ö":                    "äö",
	} {
		for _, sizes := range [][]byte{nil, {0}, {1}, {2, 6}} {
			if got := filtered(text, false, sizes); got != want {
				t.Errorf("%q in pieces %v: %q, want %q", text, sizes, got, want)
			}
		}
	}
	if got := filtered("a</think>b", true, []byte{0}); got != "b" {
		t.Errorf("begins inside a thought: %q", got)
	}
	if got := filtered("just text <", true, []byte{0}); got != "just text <" {
		t.Errorf("begins inside a thought that never ends: %q", got)
	}
}

// FuzzThink: the pieces do not change the result, nothing stands in it that was not in the text, and no thought is in it.
func FuzzThink(f *testing.F) {
	f.Add("<think>secret</think>hello <thinking>x", []byte{0}, false)
	f.Add("a [THINK] b [/THINK] c </reasoning>", []byte{3, 1}, true)
	f.Add("<<think></think", []byte{}, false)
	f.Fuzz(func(t *testing.T, text string, sizes []byte, inside bool) {
		if len(text) > 4096 {
			return // the test joins pieces, which takes too long for a long text
		}
		whole := filtered(text, inside, nil)
		if got := filtered(text, inside, sizes); got != whole {
			t.Fatalf("in pieces %q, at once %q", got, whole)
		}
		if len(whole) > len(text) {
			t.Fatalf("%q became longer: %q", text, whole)
		}
		safe := strings.Map(func(r rune) rune {
			if r == '<' || r == '[' {
				return '('
			}
			return r
		}, text)
		if got := filtered("<think>"+safe+"</think>b", false, sizes); got != "b" {
			t.Fatalf("a thought passes: %q", got)
		}
	})
}

// FuzzCalls: whatever pieces arrive, each call has one name and at its end an object, and its pieces are the begin of its arguments.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"index":0,"function":{"arguments":":1}"}}]`))
	f.Add([]byte(`[{"function":{"name":"f","arguments":{"a":1}}},{"id":"b","function":{"name":"g"}},{"index":-3}]`))
	f.Add([]byte(`[{"index":0,"function":{"name":"f","arguments":"\"{}\""}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d chatDelta
		if json.Unmarshal([]byte(`{"tool_calls":`+string(data)+`}`), &d) != nil {
			return
		}
		names, sent, done := map[int]string{}, map[int]string{}, map[int]bool{}
		name := func(i int, n string) {
			if n == "" || names[i] != "" && names[i] != n || done[i] || i < 0 || i >= maxCalls {
				t.Fatalf("call %d is %q and %q", i, names[i], n)
			}
			names[i] = n
		}
		m := &Model{}
		a := newAnswer(m, func(e pipeline.ModelEvent) error {
			switch e := e.(type) {
			case pipeline.ToolCallDelta:
				name(e.Index, e.Name)
				sent[e.Index] += e.Arguments
			case pipeline.ToolCallDone:
				name(e.Index, e.Name)
				var object map[string]any
				if json.Unmarshal([]byte(e.Arguments), &object) != nil {
					t.Fatalf("arguments %q", e.Arguments)
				}
				done[e.Index] = true
			case pipeline.TextDelta, pipeline.Thinking:
				t.Fatal("text")
			}
			return nil
		})
		if d.take(a) == nil {
			_ = a.calls.end()
		}
	})
}
