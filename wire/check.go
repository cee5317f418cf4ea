package wire

// checker is an object whose values the protocol restricts. Clients' messages and patches are checked, a server's word is not.
type checker interface {
	// check refuses what is wrong with the field that was just taken, and with field "" what is wrong with the whole object.
	check(c *codec, field string)
}

// strictly is the codec's strict where the sender is a client.
func strictly(c *codec, p fielder, field string) {
	if k, ok := p.(checker); ok {
		k.check(c, field)
	}
}

// ensure refuses the field's value unless ok.
func (c *codec) ensure(ok bool, field, want string) {
	if !ok {
		c.fail(CodeInvalidValue, field, want)
	}
}

// need refuses the object unless it has the field.
func (c *codec) need(ok bool, field string) {
	if !ok {
		c.missing(field)
	}
}

// oneOf refuses s unless it is one of the words, which stand with bars between.
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

// between refuses a number out of range.
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

// hasText reports whether the object has that member and it is a string that is not empty.
func hasText(object Raw, name string) bool {
	value, _ := object.Field(name)
	s, ok := value.Text()
	return ok && s != ""
}
