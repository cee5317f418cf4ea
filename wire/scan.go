package wire

// This file checks the syntax of JSON.

import "math/bits"

// MaxDepth limits how deep objects and arrays may be nested in a message or a Raw value. The outermost one counts as 1.
const MaxDepth = 64

// scanner checks JSON text and reports the exact position of an error. It does not allocate.
type scanner struct {
	b   []byte
	pos int
	// typ and id are the values of the members type and event_id of the outermost object. Of members with the same name the last one
	// counts.
	typ, id span
}

// span is a part of the text; end is 0 for none.
type span struct{ start, end int }

// document checks the whole text: one value and white space.
func (s *scanner) document() *DecodeError {
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.b) {
		return s.bad("unexpected text after the end of the JSON value")
	}
	return nil
}

// value checks the value at pos, which is inside depth containers, and moves to the position after it.
func (s *scanner) value(depth int) *DecodeError {
	if s.pos >= len(s.b) {
		return s.bad("the text ends where a value is due")
	}
	switch ch := s.b[s.pos]; ch {
	case '{', '[':
		if depth == MaxDepth {
			return s.bad("nested too deep: at most 64 levels are taken")
		}
		if ch == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case '"':
		_, _, err := s.str()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) object(depth int) *DecodeError {
	s.pos++
	for first := true; ; first = false {
		s.space()
		if end, err := s.separator('}', first); end || err != nil {
			return err
		}
		if s.peek() != '"' {
			return s.bad("a key in double quotes is due")
		}
		key, escaped, err := s.str()
		if err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return s.bad("a colon is due after a key")
		}
		s.pos++
		s.space()
		start := s.pos
		if err := s.value(depth); err != nil {
			return err
		}
		if depth == 1 {
			s.note(key, escaped, start)
		}
	}
}

// note keeps the position of a member of the outermost object.
func (s *scanner) note(key []byte, escaped bool, start int) {
	if escaped {
		key = unescape(nil, key)
	}
	switch string(key) {
	case "type":
		s.typ = span{start, s.pos}
	case "event_id":
		s.id = span{start, s.pos}
	}
}

func (s *scanner) array(depth int) *DecodeError {
	s.pos++
	for first := true; ; first = false {
		s.space()
		if end, err := s.separator(']', first); end || err != nil {
			return err
		}
		if err := s.value(depth); err != nil {
			return err
		}
	}
}

// separator moves over the comma before an element; the first element has none. end: there is no further element.
func (s *scanner) separator(closing byte, first bool) (end bool, err *DecodeError) {
	ch := s.peek()
	switch {
	case ch == closing:
		s.pos++
		return true, nil
	case first:
		return false, nil
	case ch != ',':
		return false, s.bad("a comma or the closing bracket is due")
	}
	s.pos++
	s.space()
	return false, nil
}

func (s *scanner) literal(word string) *DecodeError {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.bad("want " + word)
		}
		s.pos++
	}
	return nil
}

func (s *scanner) number() *DecodeError {
	if s.peek() == '-' {
		s.pos++
	}
	switch ch := s.peek(); {
	case ch == '0':
		s.pos++
	case !s.digits():
		return s.bad("a value is due: an object, an array, a string, a number, true, false or null")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.bad("a digit is due after the point")
		}
	}
	if ch := s.peek(); ch == 'e' || ch == 'E' {
		s.pos++
		if sign := s.peek(); sign == '+' || sign == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.bad("a digit is due in the exponent")
		}
	}
	return nil
}

// digits moves over digits and reports whether there were any.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.b) && s.b[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start
}

// str checks the string at pos, moves to the position after it, and returns the text between the quotes.
func (s *scanner) str() (text []byte, escaped bool, err *DecodeError) {
	s.pos++
	start := s.pos
	for {
		s.pos = plain(s.b, s.pos)
		switch ch := s.peek(); {
		case s.pos >= len(s.b):
			return nil, false, s.bad("the text ends inside a string")
		case ch == '"':
			s.pos++
			return s.b[start : s.pos-1], escaped, nil
		case ch == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, false, err
			}
		default:
			return nil, false, s.bad("a control character in a string must be escaped")
		}
	}
}

// escape checks the escape sequence at pos and moves to the position after it.
func (s *scanner) escape() *DecodeError {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if hex(s.peek()) > 15 {
				return s.bad(`four hexadecimal digits are due after \u`)
			}
			s.pos++
		}
		return nil
	}
	return s.bad("unknown escape sequence in a string")
}

// plain returns the index of the first byte from i on that a string cannot contain unescaped: a quote, a backslash or a control character.
// It returns len(b) if there is none. Most of a message is base64, so plain checks eight bytes at a time.
func plain(b []byte, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for len(b)-i >= 8 {
		v := load64(b[i : i+8])
		quote, slash := v^(ones*'"'), v^(ones*'\\')
		// The lowest bit set marks the first such byte: a borrow only reaches bytes above it.
		found := ((v-ones*' ')&^v | (quote-ones)&^quote | (slash-ones)&^slash) & high
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

func load64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// hex returns the value of a hexadecimal digit, and more than 15 for any other byte.
func hex(ch byte) uint32 {
	switch {
	case ch-'0' <= 9:
		return uint32(ch - '0')
	case ch|0x20-'a' <= 5:
		return uint32(ch|0x20-'a') + 10
	}
	return 16
}

// peek returns the byte at pos, 0 at the end of the text.
//
//go:noinline
func (s *scanner) peek() byte {
	if s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

//go:noinline
func (s *scanner) space() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

//go:noinline
func (s *scanner) bad(message string) *DecodeError {
	return &DecodeError{Code: CodeInvalidJSON, Message: message, Pos: s.pos}
}
