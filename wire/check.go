package wire

// This file checks the values that clients send.

// checker is an object whose values the protocol restricts. The package checks messages and patches of clients, and not messages of
// servers.
type checker interface {
	// check records an error if the field that was just read is not allowed. With field "" it checks the whole object.
	check(c *codec, field string)
}

// strictly is the function codec.strict for messages of clients.
func strictly(c *codec, p fielder, field string) {
	if k, ok := p.(checker); ok {
		k.check(c, field)
	}
}

// ensure records an error for the value of the field unless ok is true.
func (c *codec) ensure(ok bool, field, want string) {
	if !ok {
		c.fail(CodeInvalidValue, field, want)
	}
}

// need records an error for a missing field unless ok is true.
func (c *codec) need(ok bool, field string) {
	if !ok {
		c.missing(field)
	}
}

// oneOf records an error if s is none of the words. words has bars between them.
func (c *codec) oneOf(s, field, words string) {
	c.ensure(isOneOf(s, words), field, "want one of: "+words)
}

func isOneOf(s, words string) bool {
	for words != "" {
		end := 0
		for end < len(words) && words[end] != '|' {
			end++
		}
		if words[:end] == s {
			return true
		}
		words = words[min(end+1, len(words)):]
	}
	return false
}

// between records an error for a number outside the range.
func (c *codec) between(n, low, high int, field string) {
	if n < low || n > high {
		want := appendInt([]byte("want "), int64(low))
		c.ensure(false, field, string(appendInt(append(want, " to "...), int64(high))))
	}
}

func (c *codec) modality(all []string) {
	c.ensure(len(all) == 1 && isOneOf(all[0], "audio|text"), "output_modalities", `want ["audio"] or ["text"]`)
}

func (c *codec) maxTokens(m MaxTokens) {
	infinite := m.N == 0 && c.b[c.at] == '"'
	c.ensure(infinite || m.N >= 1 && m.N <= 4096, "max_output_tokens", `want 1 to 4096, or "inf"`)
}

func (c *codec) tools(all []Tool) {
	c.ensure(len(all) <= MaxTools, "tools", "want at most 128 tools")
}

func (c *codec) toolChoice(r Raw) {
	word, isText := r.Text()
	ok := isOneOf(word, "auto|none|required")
	if !isText {
		ok = hasText(r, "type")
	}
	c.ensure(ok, "tool_choice", `want "auto", "none", "required" or an object with the type and the name of a tool`)
}

func validToolName(name string) bool {
	for i := range len(name) {
		ch := name[i]
		letter := ch|0x20-'a' < 26
		if !letter && ch-'0' > 9 && ch != '_' && ch != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}

func validTruncation(r Raw) bool {
	if word, isText := r.Text(); isText {
		return isOneOf(word, "auto|disabled")
	}
	ratio, _ := r.Field("retention_ratio")
	if typ, _ := r.Field("type"); !isText(typ, "retention_ratio") || ratio.kind()-'0' > 9 {
		return false
	}
	v, ok := parseFloat(ratio)
	return ok && v <= 1
}

func isText(r Raw, want string) bool {
	s, ok := r.Text()
	return ok && s == want
}

// hasText reports whether the object has a member with this name that is a string and not empty.
func hasText(object Raw, name string) bool {
	value, _ := object.Field(name)
	s, ok := value.Text()
	return ok && s != ""
}
