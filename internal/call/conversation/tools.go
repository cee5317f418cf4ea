package conversation

// Checks of the tools and the tool_choice of a session or a response.

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/wire"
)

// The types of tools.
const (
	typeFunction = "function"
	typeMCP      = "mcp"
)

// checkTools returns the field that is wrong in tools, and an error text; "" when they are fine. It separates the secrets of MCP servers from them. earlier are the tools that a
// label alone can mean.
func checkTools(tools, earlier []wire.Tool, servers *mcp.Directory) (field, wrong string) {
	own, urls := servers.Names()
	names, labels := make(map[string]bool, len(tools)), map[string]bool{}
	for i := range tools {
		t, at := &tools[i], fmt.Sprintf("tools[%d].", i)
		if t.Type == typeFunction {
			if names[t.Name] {
				return at + "name", "there are two functions \"" + t.Name + "\", and a call could mean either: give one of them another name"
			}
			names[t.Name] = true
			continue
		}
		if bad := mcp.Take(t, earlier, own); bad != nil {
			return at + bad.Field, bad.Message
		}
		d := mcp.Read(*t)
		switch {
		case labels[d.Label]:
			return at + "server_label", "there are two MCP servers \"" + d.Label + "\": give one of them another label"
		case len(labels) == mcp.MaxServers:
			return at + "type", fmt.Sprintf("want at most %d MCP servers", mcp.MaxServers)
		case d.URL != "" && !urls:
			return at + "server_url", "this server calls only the MCP servers of its operator: name one of them by server_label alone"
		}
		labels[d.Label] = true
	}
	return "", ""
}

// checkToolChoice returns an error text when choice names no function and no MCP server among tools, "" when it is fine.
func checkToolChoice(choice wire.Raw, tools []wire.Tool) string {
	if _, word := choice.Text(); word || choice == nil {
		return ""
	}
	if label, is := chosenServer(choice); is {
		if !slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Type == typeMCP && mcp.Read(t).Label == label }) {
			return "there is no MCP server \"" + label + "\" among the tools: choose one of them, or give it in the same event"
		}
		return ""
	}
	if kind, _ := choice.Field("type"); string(kind) != `"function"` {
		return "want \"auto\", \"none\", \"required\", {\"type\":\"function\",\"name\":…} or {\"type\":\"mcp\",\"server_label\":…}"
	}
	name := toolChoice(choice)
	if !slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Type == typeFunction && t.Name == name }) {
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

// chosenServer returns the label of the MCP server that a tool_choice names.
func chosenServer(choice wire.Raw) (label string, is bool) {
	kind, _ := choice.Field("type")
	field, _ := choice.Field("server_label")
	label, _ = field.Text()
	return label, string(kind) == `"mcp"`
}

// Remote are the MCP servers of a response.
type Remote struct {
	Servers []mcp.Definition
	Only    string // the label of the server whose tools alone may be called; "" for any tool
	Name    string // the tool of it that the model has to call; "" for any
}

// Remote returns the MCP servers for the response that p asks for; nil for a response to a turn.
func (s *Settings) Remote(p *wire.ResponseParams) (r Remote) {
	tools, choice := s.current.Tools, s.current.ToolChoice
	if p != nil && p.HasTools {
		tools = p.Tools
	}
	if p != nil && p.ToolChoice != nil {
		choice = p.ToolChoice
	}
	for _, t := range tools {
		if t.Type == typeMCP {
			r.Servers = append(r.Servers, mcp.Read(t))
		}
	}
	if r.Only, _ = chosenServer(choice); r.Only != "" {
		field, _ := choice.Field("name")
		r.Name, _ = field.Text()
	}
	return r
}
