package wire

// This file has the one JSON writer of the repository. It puts commas where they belong; the caller closes what it opens.

// Writer appends one JSON value after another to a text. Its methods return the Writer, so that calls can be chained:
//
//	w.Object().Key("id").Text(id).Key("tags").List().Text("a").Text("b").EndList().EndObject()
//
// In an object the caller writes a Key before each value. In a list and at the outermost level it writes values only. A Writer does
// not check this order. The zero Writer is ready for use. A Writer is for one goroutine at a time.
type Writer struct {
	b    []byte
	more bool // the next key or value needs a comma before it
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) *Writer { return &Writer{b: dst} }

// Bytes returns the text that has been written, together with the earlier content of dst. It is valid until the next write.
func (w *Writer) Bytes() []byte { return w.b }

// Object opens an object.
func (w *Writer) Object() *Writer { return w.open('{') }

// EndObject closes an object.
func (w *Writer) EndObject() *Writer { return w.shut('}') }

// List opens an array.
func (w *Writer) List() *Writer { return w.open('[') }

// EndList closes an array.
func (w *Writer) EndList() *Writer { return w.shut(']') }

// Key writes the name of an object's member. Its value comes next.
func (w *Writer) Key(name string) *Writer {
	w.comma()
	w.b = append(AppendString(w.b, name), ':')
	w.more = false
	return w
}

// Text writes a string. What is not UTF-8 becomes U+FFFD.
func (w *Writer) Text(s string) *Writer {
	w.comma()
	w.b = AppendString(w.b, s)
	return w
}

// Int writes a whole number.
//
//go:noinline
func (w *Writer) Int(n int64) *Writer {
	w.comma()
	w.b = appendInt(w.b, n)
	return w
}

// Float writes a number with at most 15 significant digits. NaN becomes 0, an infinity the largest number.
func (w *Writer) Float(f float64) *Writer {
	w.comma()
	w.b = AppendFloat(w.b, f)
	return w
}

// Bool writes true or false.
func (w *Writer) Bool(v bool) *Writer {
	if v {
		return w.plain("true")
	}
	return w.plain("false")
}

// Null writes null.
func (w *Writer) Null() *Writer { return w.plain("null") }

// Raw writes text that is valid JSON already: one value, or several members of an object with commas between them. An empty text
// writes nothing.
func (w *Writer) Raw(text []byte) *Writer {
	if len(text) > 0 {
		w.comma()
		w.b = append(w.b, text...)
	}
	return w
}

// name writes the name of a member that needs no escapes, which is true of the protocol's names.
func (w *Writer) name(name string) {
	before := `,"`
	if !w.more {
		before = before[1:]
	}
	w.b = append(append(append(w.b, before...), name...), `":`...)
	w.more = false
}

// plain writes a value that needs no escapes.
//
//go:noinline
func (w *Writer) plain(text string) *Writer {
	w.comma()
	w.b = append(w.b, text...)
	return w
}

// audio writes bytes as a string of base64.
func (w *Writer) audio(data []byte) {
	w.comma()
	w.b = append(appendBase64(append(w.b, '"'), data), '"')
}

func (w *Writer) open(bracket byte) *Writer {
	w.comma()
	w.b = append(w.b, bracket)
	w.more = false
	return w
}

func (w *Writer) shut(bracket byte) *Writer {
	w.b = append(w.b, bracket)
	w.more = true
	return w
}

// comma writes a comma if the next key or value needs one before it. It then notes that the key or value after that needs a comma.
func (w *Writer) comma() {
	if w.more {
		w.b = append(w.b, ',')
	}
	w.more = true
}
