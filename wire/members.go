package wire

// Message is one server event, to be read member by member.
type Message struct {
	// Type and ID are the event's type and event_id.
	Type, ID string
	Members
}

// Members are those of a JSON object whose text was checked, to be taken one by one. They are for a client that wants a few members of a
// few events: the structs of all events, and what fills and writes them, would be a twelfth of the program in a page.
//
// A member that is missing or null is taken as zero. The first one of the wrong kind is kept for [Members.Err], and taken as zero too:
// take all that is wanted, then ask. What is taken is a copy. The zero Members are none. They are for one goroutine at a time.
type Members struct {
	c       *codec // over the whole text, with the first error
	members []member
}

type member struct {
	name []byte
	at   int // where the value begins
}

// ReadServer reads one server event, the whole of b, to take what is wanted of it. It refuses what is no JSON, an event that the protocol
// does not have, and one without a member that its event must have; the values of what nobody takes it does not look at. Its error is a
// *DecodeError, and so is that of [Members.Err], whose Param is the member's own name. The Message reads from b, which must not change
// before all is taken.
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
	m.opens("event_id", '"', "a string") // a wrong one is told of before what is missing
	for t := (token{}); t.next(needs); {
		m.Need(t.name)
	}
	if c.err != nil {
		c.err.EventID = env.id
		return Message{}, c.err
	}
	return Message{env.typ, env.id, m}, nil
}

// needsOf returns the names of the members that the server event of that type must have, with spaces between.
func needsOf(typ string) (needs string, known bool) {
	for i := range serverNeeds {
		if e := &serverNeeds[i]; e.typ == typ {
			return e.needs, true
		}
	}
	return "", false
}

// members finds the members of the object at pos, and moves behind it.
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

// find moves to the member's value. Of two members with one name the last counts.
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

// value is the first byte of the member's value, to which it moves; 0 when it is missing or null.
func (m Members) value(name string) byte {
	if m.find(name) && m.c.b[m.c.pos] != 'n' {
		return m.c.b[m.c.pos]
	}
	return 0
}

// opens reports whether the member's value, to which it moves, begins like this.
func (m Members) opens(name string, first byte, want string) bool {
	got := m.value(name)
	if got != 0 && got != first {
		m.c.wrong(name, want)
	}
	return got == first
}

// Need makes it an error that the member is missing or null. The zero Members needs nothing.
func (m Members) Need(name string) {
	switch {
	case m.c == nil:
	case !m.find(name):
		m.c.missing(name)
	case !m.Has(name):
		m.c.wrong(name, "a value")
	}
}

// Err is the first error: a *DecodeError, or nil.
func (m Members) Err() error {
	if m.c == nil || m.c.err == nil {
		return nil
	}
	return m.c.err
}

// Has reports whether the member is there and not null.
func (m Members) Has(name string) bool { return m.value(name) != 0 }

// Text takes a string.
func (m Members) Text(name string) string {
	if !m.opens(name, '"', "a string") {
		return ""
	}
	return m.c.takeText()
}

// Whole takes a whole number.
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

// True takes a boolean; otherwise is what it is when it is missing or null.
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

// Audio takes sound, which is base64.
func (m Members) Audio(name string) (audio []byte) {
	if m.Has(name) {
		m.c.takeAudio(name, &audio)
	}
	return audio
}

// Raw takes an object as text.
func (m Members) Raw(name string) Raw {
	if !m.opens(name, '{', "an object") {
		return nil
	}
	return keep(m.c.takeValue())
}

// Object takes an object, the zero Members when there is none.
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
