package sdk

import (
	"strconv"

	"github.com/antiphon-rt/antiphon/wire"
)

// jsonText writes JSON from left to right. It sees to the commas; that the text is whole is the writer's business.
type jsonText struct {
	b    []byte
	more bool // the next value follows another one
}

func newJSON() *jsonText { return &jsonText{} }

func (j *jsonText) value() {
	if j.more {
		j.b = append(j.b, ',')
	}
	j.more = true
}

func (j *jsonText) open() *jsonText {
	j.value()
	j.b = append(j.b, '{')
	j.more = false
	return j
}

func (j *jsonText) close() *jsonText {
	j.b = append(j.b, '}')
	j.more = true
	return j
}

func (j *jsonText) list() *jsonText {
	j.value()
	j.b = append(j.b, '[')
	j.more = false
	return j
}

func (j *jsonText) end() *jsonText {
	j.b = append(j.b, ']')
	j.more = true
	return j
}

func (j *jsonText) key(name string) *jsonText {
	j.str(name)
	j.b = append(j.b, ':')
	j.more = false
	return j
}

func (j *jsonText) raw(text []byte) {
	j.value()
	j.b = append(j.b, text...)
}

func (j *jsonText) int(n int64) *jsonText {
	j.value()
	j.b = strconv.AppendInt(j.b, n, 10)
	return j
}

func (j *jsonText) float(f float64) *jsonText {
	j.value()
	j.b = wire.AppendFloat(j.b, f)
	return j
}

func (j *jsonText) bool(v bool) *jsonText {
	j.value()
	j.b = strconv.AppendBool(j.b, v)
	return j
}

// str writes text; what is no UTF-8 becomes the replacement character.
func (j *jsonText) str(text string) *jsonText {
	const hex = "0123456789abcdef"
	j.value()
	j.b = append(j.b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			j.b = append(j.b, '\\', byte(r))
		case r == '\n':
			j.b = append(j.b, '\\', 'n')
		case r < 0x20:
			j.b = append(j.b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			j.b = append(j.b, string(r)...)
		}
	}
	j.b = append(j.b, '"')
	return j
}

// jsonObject reports whether text is one JSON object.
func jsonObject(text []byte) bool {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == '{' && wire.Raw(text).Valid()
		}
	}
	return false
}
