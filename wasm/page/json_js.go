package page

import (
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// object writes one JSON object; the caller adds its fields one after the other and then calls end.
type object struct{ b []byte }

func begin(b []byte) *object { return &object{append(b, '{')} }

// key begins a field; its value is appended to b next.
func (o *object) key(name string) *object {
	if last := o.b[len(o.b)-1]; last != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(wire.AppendString(o.b, name), ':')
	return o
}

func (o *object) text(name, value string) *object {
	o.key(name).b = wire.AppendString(o.b, value)
	return o
}

func (o *object) number(name string, value int) *object {
	o.key(name).b = strconv.AppendInt(o.b, int64(value), 10)
	return o
}

func (o *object) flag(name string, value bool) *object {
	o.key(name).b = strconv.AppendBool(o.b, value)
	return o
}

// ms writes a time in milliseconds, or null for one that has not come.
func (o *object) ms(name string, value time.Duration) *object {
	if value == sdk.Never {
		return o.null(name)
	}
	o.key(name).b = wire.AppendFloat(o.b, float64(value.Microseconds())/1000)
	return o
}

func (o *object) null(name string) *object {
	o.key(name).b = append(o.b, "null"...)
	return o
}

func (o *object) err(name string, err error) *object {
	if err == nil {
		return o.null(name)
	}
	o.key(name).b = appendError(o.b, err)
	return o
}

func (o *object) end() []byte { return append(o.b, '}') }

// list writes an array of n elements; one appends the one with a number.
func (o *object) list(name string, n int, one func(b []byte, i int) []byte) *object {
	b := append(o.key(name).b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, i)
	}
	o.b = append(b, ']')
	return o
}
