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

// raw writes what is JSON already. Nothing is not even a value.
func (j *jsonText) raw(text []byte) *jsonText {
	if len(text) > 0 {
		j.value()
		j.b = append(j.b, text...)
	}
	return j
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

// some writes a member that is left out when it is 0.
func (j *jsonText) some(name string, n int64) *jsonText {
	if n == 0 {
		return j
	}
	return j.key(name).int(n)
}

// str writes text; what is no UTF-8 becomes the replacement character.
func (j *jsonText) str(text string) *jsonText {
	j.value()
	j.b = wire.AppendString(j.b, text)
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

// newMessage begins an item of the conversation, up to its content.
func newMessage(id, role string) *jsonText {
	return newJSON().key("item").open().key("id").str(id).key("object").str("realtime.item").key("type").str(wire.ItemMessage).
		key("role").str(role).key("content").list()
}

// words writes a part of a message.
func (j *jsonText) words(kind, text string) *jsonText {
	return j.open().key("type").str(kind).key("text").str(text).close()
}
