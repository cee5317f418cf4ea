// Package mcp is the server's client of remote tools by the Model Context Protocol (MCP): what a session may ask for (definition.go), who may be called (directory.go), the
// connection to one MCP server (server.go), and its transports (http.go, stdio.go).
package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of one definition, in bytes.
const (
	maxURL     = 2 << 10
	maxHeaders = 16 << 10 // names and values together
	maxAllowed = 128      // tool names in a list
)

// OwnLabel is the label of the tools that the server runs itself.
const OwnLabel = "antiphon"

// Definition is a tool of type mcp, as a session or a response asks for it.
type Definition struct {
	Label, URL  string // the URL is empty for a server of the operator
	Description string
	Headers     map[string]string // also the one of `authorization`
	Lost        bool              // it had headers, which this process does not know
	allowed     *filter           // nil: every tool
	always      *filter           // tools that need approval; nil for none
	never       *filter           // tools that need none; nil for none
}

// filter chooses tools. The zero filter chooses all.
type filter struct {
	Names    []string `json:"tool_names,omitempty"`
	ReadOnly *bool    `json:"read_only,omitempty"`
}

func (f *filter) has(t *Tool) bool {
	return f != nil && (f.Names == nil || slices.Contains(f.Names, t.Name)) && (f.ReadOnly == nil || *f.ReadOnly == t.ReadOnly)
}

// Allows reports whether the session may use a tool.
func (d *Definition) Allows(t *Tool) bool { return d.allowed == nil || d.allowed.has(t) }

// Asks reports whether a call of a tool needs approval.
func (d *Definition) Asks(t *Tool) bool {
	return d.always.has(t) || !d.never.has(t)
}

// Same reports whether two definitions mean the same connection.
func (d *Definition) Same(o *Definition) bool {
	return d.Label == o.Label && d.URL == o.URL && maps.Equal(d.Headers, o.Headers)
}

// Names are the servers of the operator.
type Names map[string]bool

// fields are the fields of the object, without those of secret.
type fields struct {
	Type        string          `json:"type"`
	Label       string          `json:"server_label"`
	URL         string          `json:"server_url,omitempty"`
	Description string          `json:"server_description,omitempty"`
	Allowed     json.RawMessage `json:"allowed_tools,omitempty"`
	Approval    json.RawMessage `json:"require_approval,omitempty"`
}

// secret are the fields that nobody gets to see.
type secret struct {
	Authorization string            `json:"authorization,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
}

// unsupported are the fields that are refused, with the reason.
type unsupported struct {
	Connector json.RawMessage `json:"connector_id,omitempty"`
	Tunnel    json.RawMessage `json:"tunnel_id,omitempty"`
	Callers   json.RawMessage `json:"allowed_callers,omitempty"`
	Defer     bool            `json:"defer_loading,omitempty"`
}

// Fault says which field of a tool is wrong.
type Fault struct{ Field, Message string }

func fault(field, format string, args ...any) *Fault {
	return &Fault{field, fmt.Sprintf(format, args...)}
}

// labels are the labels of servers: names of models' tools begin with them.
var labels = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Take checks a tool of type mcp and separates its secret from it: t.Config has what everybody may see, t.Secret the rest. A tool that names neither a URL nor a server of the
// operator becomes the one of its label among earlier.
func Take(t *wire.Tool, earlier []wire.Tool, own Names) *Fault {
	if t.Secret != nil || t.Secured {
		return nil // it was taken already
	}
	var o struct {
		fields
		secret
		unsupported
	}
	d := json.NewDecoder(bytes.NewReader(t.Config))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return fault("", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case o.Connector != nil:
		return fault("connector_id", "connectors are of OpenAI: give the server_url of an MCP server")
	case o.Tunnel != nil:
		return fault("tunnel_id", "tunnels are of OpenAI: give the server_url of an MCP server")
	case o.Callers != nil:
		return fault("allowed_callers", "this server has no such field: leave it out")
	case o.Defer:
		return fault("defer_loading", "tools are loaded at once: leave it out")
	case !labels.MatchString(o.Label) || o.Label == OwnLabel:
		return fault("server_label", "want 1 to 64 letters, digits, _ or -, and not %q", OwnLabel)
	}
	was := slices.IndexFunc(earlier, func(t wire.Tool) bool {
		label, _ := t.Config.Field("server_label")
		name, _ := label.Text()
		return name == o.Label
	})
	switch {
	case own[o.Label] && (o.URL != "" || o.Authorization != "" || o.Headers != nil):
		return fault("server_url", "%q is a server of this server's operator: leave server_url, authorization and headers out, or choose another label", o.Label)
	case !own[o.Label] && o.URL == "" && was < 0:
		return fault("server_url", "give the URL of the MCP server: the operator has no server %q", o.Label)
	case !own[o.Label] && o.URL == "":
		*t = earlier[was]
		return nil
	}
	if bad := o.secret.check(); bad != nil {
		return bad
	}
	if _, bad := define(o.fields, o.secret); bad != nil {
		return bad
	}
	t.Config, _ = json.Marshal(o.fields) // strings and valid JSON always encode
	if o.Authorization != "" || o.Headers != nil {
		t.Secret, _ = json.Marshal(o.secret)
		t.Secured = true
	}
	return nil
}

func (s *secret) check() *Fault {
	size := len(s.Authorization)
	for name, value := range s.Headers {
		size += len(name) + len(value)
		switch {
		case !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return fault("headers", "want names and values of HTTP header fields")
		case s.Authorization != "" && strings.EqualFold(name, "Authorization"):
			return fault("authorization", "authorization and the header Authorization are both set: take one out")
		}
	}
	if size > maxHeaders || !httpguts.ValidHeaderFieldValue(s.Authorization) {
		return fault("headers", "want header fields of at most %d bytes together", maxHeaders)
	}
	return nil
}

// Read returns the definition of a tool that Take has taken.
func Read(t wire.Tool) Definition {
	var f fields
	var s secret
	_ = json.Unmarshal(t.Config, &f) // Take has checked it
	if t.Secret != nil {
		_ = json.Unmarshal(t.Secret, &s)
	}
	d, _ := define(f, s)
	d.Lost = t.Secured && t.Secret == nil
	return d
}

func define(f fields, s secret) (d Definition, bad *Fault) {
	d = Definition{Label: f.Label, URL: f.URL, Description: f.Description, Headers: maps.Clone(s.Headers)}
	if s.Authorization != "" {
		if d.Headers == nil {
			d.Headers = map[string]string{}
		}
		d.Headers["Authorization"] = s.Authorization
		if !strings.Contains(s.Authorization, " ") {
			d.Headers["Authorization"] = "Bearer " + s.Authorization // the protocol's field is an OAuth access token
		}
	}
	if f.URL != "" {
		u, err := url.Parse(f.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(f.URL) > maxURL {
			return d, fault("server_url", "want an http or https URL of at most %d bytes", maxURL)
		}
		if u.User != nil {
			return d, fault("server_url", "a URL may not have a name and a password, because others see it: use authorization")
		}
	}
	if err := choose(f.Allowed, &d.allowed); err != nil {
		return d, fault("allowed_tools", "want a list of at most %d names, or an object with tool_names and read_only", maxAllowed)
	}
	return d, d.approval(f.Approval)
}

// approval reads require_approval.
func (d *Definition) approval(text json.RawMessage) *Fault {
	word, isWord := wire.Raw(text).Text()
	switch {
	case len(text) == 0 || string(text) == "null" || word == "always":
		d.always = &filter{}
		return nil
	case word == "never":
		d.never = &filter{}
		return nil
	}
	var o struct {
		Always json.RawMessage `json:"always"`
		Never  json.RawMessage `json:"never"`
	}
	if isWord || strictly(text, &o) != nil || choose(o.Always, &d.always) != nil || choose(o.Never, &d.never) != nil {
		return fault("require_approval", `want "always", "never", or an object with the filters always and never`)
	}
	return nil
}

// choose reads a list of names, or a filter; nil for none.
func choose(text json.RawMessage, to **filter) error {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	f := &filter{}
	err := json.Unmarshal(text, &f.Names)
	if err != nil {
		f.Names = nil
		err = strictly(text, f)
	}
	if err == nil && len(f.Names) > maxAllowed {
		err = fmt.Errorf("more than %d names", maxAllowed)
	}
	*to = f
	return err
}

// Redacted returns a client's event without the secrets of the MCP servers that it names. A text that may have some and cannot be read becomes another one.
func Redacted(event []byte) []byte {
	escaped := bytes.Contains(event, []byte(`\u`))
	if !escaped && !(bytes.Contains(event, []byte("mcp")) && bytes.Contains(event, []byte("tools"))) {
		return event
	}
	var o any
	if json.Unmarshal(event, &o) != nil {
		return []byte(`{"type":"unreadable"}`)
	}
	if !redact(o, false) { // a changed event has other bytes
		return event
	}
	text, _ := json.Marshal(o) // it came as JSON
	return text
}

// redact replaces the secrets in a value. tool: it is in a list of tools.
func redact(value any, tool bool) (found bool) {
	switch v := value.(type) {
	case []any:
		for _, in := range v {
			found = redact(in, tool) || found
		}
	case map[string]any:
		for name, in := range v {
			if tool && (strings.EqualFold(name, "authorization") || strings.EqualFold(name, "headers")) {
				v[name], found = hidden(in), true
				continue
			}
			found = redact(in, tool || strings.EqualFold(name, "tools")) || found
		}
	}
	return found
}

// seed makes the names of secrets, which only this process can compare.
var seed = maphash.MakeSeed()

// hidden returns a value of the same form in place of a secret: equal ones for equal secrets.
func hidden(value any) any {
	switch v := value.(type) {
	case string:
		if !httpguts.ValidHeaderFieldValue(v) {
			return "\n"
		}
		return fmt.Sprintf("[secret %x]", maphash.String(seed, v))
	case map[string]any:
		for name, in := range v {
			v[name] = hidden(in)
		}
		return v
	case nil:
		return nil
	}
	return 0
}

// Hide returns tools with hidden values in place of their secrets.
func Hide(tools []wire.Tool) []wire.Tool {
	tools = slices.Clone(tools)
	for i, t := range tools {
		var o any
		if t.Secret != nil && json.Unmarshal(t.Secret, &o) == nil {
			tools[i].Secret, _ = json.Marshal(hidden(o)) // it came as JSON
		}
	}
	return tools
}

// strictly reads an object that has no other fields.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
