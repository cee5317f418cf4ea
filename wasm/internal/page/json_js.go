package page

// Writes JSON objects member by member, and reads members of JavaScript objects.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// object is one JSON object that is being written. begin or nested opens it, end closes it.
type object struct{ *wire.Writer }

// begin opens an object in w.
func begin(w *wire.Writer) object { return object{w.Object()} }

// nested opens an object that is the member with this name. It is ended before the next member of o is written.
func (o object) nested(name string) object { return begin(o.Key(name)) }

func (o object) text(name, value string) object {
	o.Key(name).Text(value)
	return o
}

func (o object) number(name string, value int) object {
	o.Key(name).Int(int64(value))
	return o
}

func (o object) flag(name string, value bool) object {
	o.Key(name).Bool(value)
	return o
}

// ms writes a time in milliseconds, or null for sdk.Never.
func (o object) ms(name string, value time.Duration) object {
	if value == sdk.Never {
		return o.null(name)
	}
	o.Key(name).Float(float64(value.Microseconds()) / 1000)
	return o
}

func (o object) null(name string) object {
	o.Key(name).Null()
	return o
}

// err writes err as writeError does, or null where err is nil.
func (o object) err(name string, err error) object {
	if err == nil {
		return o.null(name)
	}
	writeError(o.Key(name), err)
	return o
}

func (o object) end() { o.EndObject() }

// list writes an array of n elements. one writes the element i as one value.
func (o object) list(name string, n int, one func(w *wire.Writer, i int)) object {
	o.Key(name).List()
	for i := range n {
		one(o.Writer, i)
	}
	o.EndList()
	return o
}
