package wire

// This file reads single members of a server event, for clients that need few of them.

// Message is one server event whose members are read one by one.
type Message struct {
	// Type and ID are the event's type and event_id.
	Type, ID string
	Members
}

// Members are the members of a JSON object whose text was checked. They are for a client that reads a few members of a few events: the
// structs of all events and their code would be a twelfth of the program in a page.
//
// A member that is missing or null is read as zero. A member of the wrong kind is read as zero, too; [Members.Err] returns the first such
// error. So a caller reads all that it needs and then calls Err. A value is a copy. The zero Members has no members. Only one goroutine at
// a time may use Members.
type Members struct {
	c       *codec // reads the whole text and keeps the first error
	members []member
}

type member struct {
	name []byte
	at   int // position of the value
}

// ReadServer begins to read one server event, which must be the whole of b. It returns a *DecodeError if b is not JSON, if the protocol has
// no such event, or if a member that the event requires is missing. It does not check the values of members that nobody reads. The error of
// [Members.Err] is a *DecodeError, too; its Param is the name of the member alone. The Message reads from b, which must not change until
// all members are read.
func ReadServer(b []byte) (Message, error) {
	env, err := readEnvelope(b)
	if err != nil {
		return Message{}, err
	}
	needs, known := needsOf(env.typ)
	if !known {
		return Message{}, env.unknown()
	}
	c := &codec{scanner: scanner{b: b, pos: env.start}, at: env.start}
	m := c.members()
	m.opens("event_id", '"', "a string") // an error in event_id is reported before a missing member
	for t := (token{}); t.next(needs); {
		m.Need(t.name)
	}
	if c.err != nil {
		c.err.EventID = env.id
		return Message{}, c.err
	}
	return Message{env.typ, env.id, m}, nil
}

// needsOf returns the names of the members that a server event of this type requires, with spaces between.
func needsOf(typ string) (needs string, known bool) {
	for i := range serverNeeds {
		if e := &serverNeeds[i]; e.typ == typ {
			return e.needs, true
		}
	}
	return "", false
}

// members returns the members of the object at pos, and moves to the position after it.
func (c *codec) members() Members {
	m := Members{c: c, members: make([]member, 0, 8)}
	c.pos++
	for first := true; ; first = false {
		c.space()
		if end, _ := c.separator('}', first); end {
			return m
		}
		key := c.key()
		m.members = append(m.members, member{key, c.pos})
		_ = c.value(0)
	}
}

// find moves to the value of the member. Of two members with the same name the last one counts.
func (m Members) find(name string) bool {
	for i := len(m.members) - 1; i >= 0; i-- {
		if string(m.members[i].name) == name {
			m.c.pos = m.members[i].at
			m.c.at = m.c.pos
			return true
		}
	}
	return false
}

// value moves to the value of the member and returns its first byte; 0 if the member is missing or null.
func (m Members) value(name string) byte {
	if m.find(name) && m.c.b[m.c.pos] != 'n' {
		return m.c.b[m.c.pos]
	}
	return 0
}

// opens moves to the value of the member and reports whether it begins with first.
func (m Members) opens(name string, first byte, want string) bool {
	got := m.value(name)
	if got != 0 && got != first {
		m.c.wrong(name, want)
	}
	return got == first
}

// Need records an error if the member is missing or null. On the zero Members it does nothing.
func (m Members) Need(name string) {
	switch {
	case m.c == nil:
	case !m.find(name):
		m.c.missing(name)
	case !m.Has(name):
		m.c.wrong(name, "a value")
	}
}

// Err returns the first error: a *DecodeError, or nil.
func (m Members) Err() error {
	if m.c == nil || m.c.err == nil {
		return nil
	}
	return m.c.err
}

// Has reports whether the object has the member and it is not null.
func (m Members) Has(name string) bool { return m.value(name) != 0 }

// Text returns a string.
func (m Members) Text(name string) string {
	if !m.opens(name, '"', "a string") {
		return ""
	}
	return m.c.takeText()
}

// Whole returns a whole number.
func (m Members) Whole(name string) int {
	if !m.Has(name) {
		return 0
	}
	n, ok := parseInt(m.c.takeNumber())
	if !ok || int64(int(n)) != n {
		m.c.wrong(name, "a whole number")
		return 0
	}
	return int(n)
}

// True returns a boolean. It returns otherwise if the member is missing or null.
func (m Members) True(name string, otherwise bool) bool {
	switch m.value(name) {
	case 0:
		return otherwise
	case 't':
		return true
	case 'f':
	default:
		m.c.wrong(name, "true or false")
	}
	return false
}

// Audio returns the bytes of a base64 string.
func (m Members) Audio(name string) (audio []byte) {
	if m.Has(name) {
		m.c.takeAudio(name, &audio)
	}
	return audio
}

// Raw returns an object as text.
func (m Members) Raw(name string) Raw {
	if !m.opens(name, '{', "an object") {
		return nil
	}
	return keep(m.c.takeValue())
}

// Value returns any value as text; nil if it is missing or null.
func (m Members) Value(name string) Raw {
	if !m.Has(name) {
		return nil
	}
	return keep(m.c.takeValue())
}

// Object returns the members of an object; the zero Members if there is none.
func (m Members) Object(name string) Members {
	if !m.opens(name, '{', "an object") {
		return Members{}
	}
	return m.c.members()
}

// Each calls f with each element of a list of at most 4096 objects.
func (m Members) Each(name string, f func(Members)) {
	if !m.opens(name, '[', "a list") {
		return
	}
	c := m.c
	c.pos++
	for i := 0; ; i++ {
		c.space()
		if end, _ := c.separator(']', i == 0); end {
			return
		}
		c.at = c.pos
		switch {
		case i == maxElements:
			c.fail(CodeInvalidValue, name, "want at most 4096 elements")
			return
		case c.b[c.pos] != '{':
			c.wrong(name, "a list of objects")
			return
		}
		element := c.members()
		next := c.pos
		f(element)
		c.pos = next
	}
}

// Texts returns a list of at most 4096 strings; nil if the member is missing or null.
func (m Members) Texts(name string) (all []string) {
	if !m.opens(name, '[', "a list") {
		return nil
	}
	c := m.c
	c.pos++
	for {
		c.space()
		if end, _ := c.separator(']', len(all) == 0); end {
			return all
		}
		c.at = c.pos
		switch {
		case len(all) == maxElements:
			c.fail(CodeInvalidValue, name, "want at most 4096 elements")
			return nil
		case c.b[c.pos] != '"':
			c.wrong(name, "a list of strings")
			return nil
		}
		all = append(all, c.takeText())
	}
}
