package wire

// fielder is an object of the protocol.
type fielder interface {
	// fields calls bind once, with all fields of the object. That serves reading and writing alike.
	fields(c *codec)
}

// codec carries objects in one direction. The text that it reads was checked before as a whole, so that reading cannot meet the end of the
// text or a syntax error, only values that the protocol does not allow.
//
// The code of both directions is here, once for each kind of field; the objects only name their fields. In the browser the size of
// the codec counts, and code that is repeated for each event is most of it.
type codec struct {
	mode mode

	// Writing.
	out    Writer
	server bool // the writer is a server

	// Reading.
	scanner
	err   *DecodeError
	merge bool    // keep what is not named, at every depth
	event bool    // the outermost object is an event, which has a type
	owner fielder // whose fields are read next
	at    int     // where the value that was last taken begins
	spec  string  // the fields of the object that was last read
	seen  uint64  // which of them were there
	start int     // where that object begins

	// strict checks a field that was taken, and the whole object with field "". It is a function value, and nil where the sender is
	// trusted, so that clients do without the code of all checks.
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
// and a lone - passes a field over. The types of the pointers say how the values look: see put and take.
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
	end   int    // where the next one begins
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

// find moves to the field with that name. It looks at the next one first: members mostly come in the order of the fields.
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

// fail keeps the first error. It returns false, for the methods that have not taken a value.
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
