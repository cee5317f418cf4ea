package wire

// fielder is an object of the protocol. Its fields method names every field once, in the order in which they are written, and serves both
// directions: when c.writing it appends them, else it takes the value of the member that the codec has come to, if it is one of its own.
type fielder interface {
	fields(c *codec)
}

// flag says when a field is written and whether it may be missing.
type flag uint8

const (
	required  flag = iota // always written, must be there
	always                // always written, may be missing or null, which changes nothing
	omitEmpty             // left out when empty, may be missing or null, which changes nothing
	orNull                // always written, null when nil; may be missing; null makes it nil
)

// codec carries the fields of objects in one direction. The text that it reads was checked before as a whole, so reading cannot meet the
// end of the text or a syntax error, only values that the protocol does not allow.
type codec struct {
	scanner
	frame
	err *DecodeError

	out     []byte
	writing bool
	comma   bool // something was written in this object
	server  bool // writing: the writer is a server
	strict  bool // reading: refuse values out of range
	merge   bool // reading: keep what is not named, at every depth
}

// frame is the place in one object that is being read.
type frame struct {
	start int    // where the object begins
	key   []byte // the member whose value is at pos
	done  bool   // there is no other member
	at    int    // where the value that was last taken begins
	index uint   // number of the next field in this walk over the fields
	seen  uint64 // fields that were there, by number
}

// open begins to read the object at pos.
func (c *codec) open() {
	c.frame = frame{start: c.pos}
	c.pos++
	c.next()
}

// next moves to the next member's value. It returns true, for the methods that have taken a value.
func (c *codec) next() bool {
	c.space()
	if c.b[c.pos] == ',' {
		c.pos++
		c.space()
	}
	if c.b[c.pos] == '}' {
		c.pos++
		c.done = true
		return true
	}
	key, escaped, _ := c.scanner.str()
	if escaped {
		key = unescape(nil, key)
	}
	c.key = key
	c.space()
	c.pos++
	c.space()
	return true
}

// readObject reads the object at pos into p. Members in the order of p's fields cost one walk over the fields; others one more each.
func (c *codec) readObject(p fielder) {
	outer := c.frame
	for c.open(); !c.done && c.err == nil; {
		before := c.pos
		c.index = 0
		p.fields(c)
		if c.pos == before && !c.done && c.err == nil {
			_ = c.value(0)
			c.next()
		}
	}
	c.index = 0
	p.fields(c) // required fields and conditions between fields
	c.frame = outer
}

// here reports whether the member that the codec has come to is this field, and whether a required one is missing.
func (c *codec) here(name string, f flag) bool {
	i := c.index
	c.index++
	switch {
	case c.err != nil:
		return false
	case c.done:
		if f == required && !c.has(i) {
			c.missing(name)
		}
		return false
	case string(c.key) != name:
		return false
	}
	c.seen |= 1 << i
	c.at = c.pos
	return true
}

// match is here for fields where null, if it is allowed, is the same as nothing.
func (c *codec) match(name string, f flag) bool {
	if !c.here(name, f) {
		return false
	}
	if f == required || c.b[c.pos] != 'n' {
		return true
	}
	c.pos += len("null")
	c.seen &^= 1 << (c.index - 1)
	c.next()
	return false
}

// has reports whether the field with that number was there.
func (c *codec) has(i uint) bool { return c.seen>>i&1 != 0 }

// ended reports that all members were read: the time for conditions between fields.
func (c *codec) ended() bool { return !c.writing && c.done && c.err == nil }

// check refuses the value that was just taken, in strict reading.
func (c *codec) check(ok bool, name, want string) {
	if !ok && c.strict {
		c.fail(CodeInvalidValue, name, want, c.at)
	}
}

// need refuses an object without the field, in strict reading.
func (c *codec) need(ok bool, name string) {
	if !ok && c.strict {
		c.missing(name)
	}
}

func (c *codec) missing(name string) {
	c.fail(CodeMissingField, name, "the field "+name+" is required", c.start)
}

// wrong refuses a value of the wrong type. It returns false, for the methods that have not taken a value.
func (c *codec) wrong(name, want string) bool {
	c.fail(CodeInvalidType, name, "want "+want+", got "+kindName(c.b[c.at]), c.at)
	return false
}

func (c *codec) fail(code, name, message string, pos int) {
	if c.err == nil {
		c.err = &DecodeError{Code: code, Param: name, Message: message, Pos: pos}
	}
}

func kindName(ch byte) string {
	switch ch {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// unless is the flag, or omitEmpty on that condition.
func (f flag) unless(omit bool) flag {
	if omit {
		return omitEmpty
	}
	return f
}
