package conversation

// Checks of the tools and the tool_choice of a session or a response.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/wire"
)

// typeFunction is the only type of tool that this server has.
const typeFunction = "function"

// duplicate returns the index of the first function that has the name of an earlier one, or -1.
func duplicate(tools []wire.Tool) int {
	names := make(map[string]bool, len(tools))
	return slices.IndexFunc(tools, func(t wire.Tool) bool {
		if t.Type != typeFunction {
			return false
		}
		had := names[t.Name]
		names[t.Name] = true
		return had
	})
}

// duplicateMessage returns the error text for two functions of one name.
func duplicateMessage(name string) string {
	return "there are two functions \"" + name + "\", and a call could mean either: give one of them another name"
}

// checkToolChoice returns an error text when choice names no function among tools, "" when it is fine.
func checkToolChoice(choice wire.Raw, tools []wire.Tool) string {
	if _, word := choice.Text(); word || choice == nil {
		return ""
	}
	if kind, _ := choice.Field("type"); string(kind) != `"function"` {
		return "this server has tools of type \"function\" only: want \"auto\", \"none\", \"required\" or {\"type\":\"function\",\"name\":…}"
	}
	name := toolChoice(choice)
	if !slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Name == name }) {
		return "there is no function \"" + name + "\" among the tools: choose one of them, or give it in the same event"
	}
	return ""
}

// toolChoice returns the protocol's tool_choice as a model reads it: "auto", "none", "required" or a function's name.
func toolChoice(raw wire.Raw) string {
	if mode, ok := raw.Text(); ok {
		return mode
	}
	if field, ok := raw.Field("name"); ok {
		if name, ok := field.Text(); ok {
			return name
		}
	}
	return "auto"
}
