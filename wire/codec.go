package wire

// This file has the codec: what reading and writing have in common.

// fielder is an object of the protocol.
type fielder interface {
	// fields calls bind once, with all fields of the object. Reading and writing both use it.
	fields(c *codec)
}

// codec reads or writes objects. A text is checked as a whole before a codec reads it, so the codec meets no syntax error, but only
// values that the protocol does not allow.
//
// The codec has the code for each kind of field once, for both directions; the objects only name their fields. This keeps the codec
// small for the browser: code that is repeated for each event would be most of it.
type codec struct {
	mode mode

	// Writing.
	out    Writer
	server bool // the writer is a server

	// Reading.
	scanner
	err   *DecodeError
	merge bool    // keep the fields that the text does not have, at every depth
	event bool    // the outermost object is an event, which has a type
	owner fielder // the object whose fields are read next
	at    int     // position of the value that was last read
	spec  string  // the fields of the object that was last read
	seen  uint64  // which of them the text had
	start int     // position of that object

	// strict checks a field that was read, and with field "" the whole object. It is nil for messages of servers. Because it is a function value, the program
	// of a client does not contain the code of the checks.
	strict func(c *codec, p fielder, field string)
}

type mode uint8

const (
	reading mode = iota
	writing
	emptying // sets all fields to their zero values
)

// bind names the fields of an object: in spec their names on the wire, with spaces between, and then pointers to them in the same order. A
// name is followed by a mark:
//
//	none   always written; may be missing or null, which changes nothing
//	!      always written, must be there
//	?      left out when empty; may be missing or null, which changes nothing
//	~      always written, null when nil; may be missing; null makes it nil
//	=text  written as this text, whatever the field holds
//
// and a lone - skips a field. The types of the pointers determine the form of the values: see put and take.
func (c *codec) bind(spec string, fields ...any) {
	switch c.mode {
	case writing:
		c.writeFields(spec, fields)
	case reading:
		c.readFields(spec, fields)
	case emptying:
		for _, p := range fields {
			empty(p)
		}
	}
}

// token is one field in the spec of bind.
type token struct {
	name  string
	mark  byte
	text  string // after the mark =
	index int    // from 1 on
	end   int    // position of the next one
}

// next moves to the next field.
func (t *token) next(spec string) bool {
	i := t.end
	if i >= len(spec) {
		return false
	}
	for i < len(spec) && (spec[i]-'a' < 26 || spec[i] == '_' || spec[i]-'0' < 10) {
		i++
	}
	t.name, t.mark, t.text = spec[t.end:i], 0, ""
	if i < len(spec) && spec[i] != ' ' {
		t.mark = spec[i]
		i++
	}
	if t.mark == '=' {
		from := i
		for i < len(spec) && spec[i] != ' ' {
			i++
		}
		t.text = spec[from:i]
	}
	t.end = i + 1
	t.index++
	return true
}

// find moves to the field with this name. It tries the next field first, because members mostly come in the order of the fields.
func (t *token) find(spec string, name []byte) bool {
	if t.next(spec) && t.is(name) {
		return true
	}
	for *t = (token{}); t.next(spec); {
		if t.is(name) {
			return true
		}
	}
	return false
}

func (t *token) is(name []byte) bool { return t.name == string(name) && t.mark != '-' }

// saw reports whether the object that was last read had the field.
func (c *codec) saw(name string) bool {
	var t token
	return t.find(c.spec, []byte(name)) && c.seen>>t.index&1 != 0
}

// fail keeps the first error. It returns false, which callers return for a value that was not read.
//
//go:noinline
func (c *codec) fail(code, name, message string) bool {
	if c.err == nil {
		c.err = &DecodeError{Code: code, Param: name, Message: message, Pos: c.at}
	}
	return false
}

func (c *codec) wrong(name, want string) bool {
	return c.fail(CodeInvalidType, name, "want "+want+", got "+kindName(c.b[c.at]))
}

func (c *codec) missing(name string) {
	c.fail(CodeMissingField, name, "the field "+name+" is required")
}

const aNumber = "a number"

// kindName returns the kind of the JSON value that begins with ch, for error texts.
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
	return aNumber
}
