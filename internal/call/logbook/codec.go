package logbook

// The form of values in a logbook: JSON that says the types behind interfaces.

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Codec encodes values of exported fields, and decodes them. Its methods are safe for concurrent use.
type Codec struct {
	types map[string]reflect.Type
	same  []error // those that callers tell apart by errors.Is
	kinds []error // one of each kind that callers tell apart by errors.As; pointers
}

// NewCodec returns a Codec. types has a value of each type that occurs behind an interface. A decoded error is each of same that the encoded one was, and has those of its kinds.
func NewCodec(types []any, same, kinds []error) *Codec {
	c := &Codec{types: map[string]reflect.Type{}, same: same, kinds: kinds}
	for _, t := range types {
		c.types[reflect.TypeOf(t).String()] = reflect.TypeOf(t)
	}
	return c
}

var errorType = reflect.TypeFor[error]()

// Append encodes what v points to. Without sound, audio is only its length.
func (c *Codec) Append(dst []byte, v any, sound bool) ([]byte, error) {
	return c.append(dst, reflect.ValueOf(v).Elem(), sound)
}

func (c *Codec) append(dst []byte, v reflect.Value, sound bool) ([]byte, error) {
	switch v.Kind() { //nolint:exhaustive // the lines after it have the rest
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64), nil
	case reflect.String:
		return appendText(dst, v.String()), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return c.append(dst, v.Elem(), sound)
	case reflect.Interface:
		return c.appendInterface(dst, v, sound)
	case reflect.Slice:
		return c.appendSlice(dst, v, sound)
	case reflect.Map:
		return c.appendMap(dst, v, sound)
	case reflect.Struct:
		return c.appendStruct(dst, v, sound)
	}
	return dst, fmt.Errorf("a %s has no place in a logbook", v.Type())
}

// appendText encodes a text. One that is no UTF-8 is an array with its bytes in base64.
func appendText(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		return append(strconv.AppendQuote(append(dst, '['), base64.StdEncoding.EncodeToString([]byte(text))), ']')
	}
	quoted, _ := json.Marshal(text) // a text always encodes
	return append(dst, quoted...)
}

func (c *Codec) appendInterface(dst []byte, v reflect.Value, sound bool) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if err, is := v.Interface().(error); is && v.Type() == errorType {
		return c.append(dst, reflect.ValueOf(c.fault(err)), sound)
	}
	of := v.Elem().Type()
	if c.types[of.String()] != of {
		return dst, fmt.Errorf("a %s has no place in a logbook", of)
	}
	dst = append(appendText(append(dst, '{'), of.String()), ':')
	dst, err := c.append(dst, v.Elem(), sound)
	return append(dst, '}'), err
}

func (c *Codec) appendSlice(dst []byte, v reflect.Value, sound bool) (_ []byte, err error) {
	switch {
	case v.IsNil():
		return append(dst, "null"...), nil
	case v.Type().Elem().Kind() == reflect.Uint8:
		return appendText(dst, string(v.Bytes())), nil
	}
	if pcm, is := v.Interface().([]int16); is {
		if !sound {
			return strconv.AppendInt(dst, int64(len(pcm)), 10), nil
		}
		return strconv.AppendQuote(dst, base64.StdEncoding.EncodeToString(voice.PCM16ToBytes(nil, pcm))), nil
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.append(dst, v.Index(i), sound); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (c *Codec) appendMap(dst []byte, v reflect.Value, sound bool) (_ []byte, err error) {
	dst = append(dst, '{')
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return slices.Compare([]byte(a.String()), []byte(b.String())) })
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, k.String()), ':')
		if dst, err = c.append(dst, v.MapIndex(k), sound); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (c *Codec) appendStruct(dst []byte, v reflect.Value, sound bool) (_ []byte, err error) {
	dst = append(dst, '{')
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if v.Field(i).IsZero() {
			continue
		}
		if !f.IsExported() {
			return dst, fmt.Errorf("%s.%s has no place in a logbook", v.Type(), f.Name)
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, f.Name), ':')
		if dst, err = c.append(dst, v.Field(i), sound); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// Decode decodes a value into what to points to. The text may be of a stranger.
func (c *Codec) Decode(text []byte, to any) error {
	return c.decode(text, reflect.ValueOf(to).Elem())
}

// decode decodes into v, which is zero.
func (c *Codec) decode(text json.RawMessage, v reflect.Value) error {
	if string(text) == "null" {
		return nil
	}
	switch v.Kind() { //nolint:exhaustive // the lines after it have the rest
	case reflect.String:
		said, err := decodeText(text)
		v.SetString(said)
		return err
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return c.decode(text, v.Elem())
	case reflect.Interface:
		return c.decodeInterface(text, v)
	case reflect.Slice:
		return c.decodeSlice(text, v)
	case reflect.Map:
		fields, err := members(text)
		v.Set(reflect.MakeMap(v.Type()))
		for name, text := range fields {
			value := reflect.New(v.Type().Elem()).Elem()
			err = errors.Join(err, c.decode(text, value))
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), value)
		}
		return err
	case reflect.Struct:
		fields, err := members(text)
		for name, text := range fields {
			f, ok := v.Type().FieldByName(name)
			if !ok || !f.IsExported() || len(f.Index) != 1 {
				return fmt.Errorf("this version knows no %s.%.40s", v.Type(), name)
			}
			err = errors.Join(err, c.decode(text, v.FieldByIndex(f.Index)))
		}
		return err
	}
	return json.Unmarshal(text, v.Addr().Interface())
}

func members(text []byte) (fields map[string]json.RawMessage, err error) {
	return fields, json.Unmarshal(text, &fields)
}

func decodeText(text []byte) (said string, err error) {
	if len(text) == 0 || text[0] != '[' {
		return said, json.Unmarshal(text, &said)
	}
	var parts [1][]byte
	err = json.Unmarshal(text, &parts)
	return string(parts[0]), err
}

func (c *Codec) decodeInterface(text []byte, v reflect.Value) error {
	if v.Type() == errorType {
		var f fault
		err := c.Decode(text, &f)
		v.Set(reflect.ValueOf(c.recall(f)))
		return err
	}
	fields, err := members(text)
	if err != nil || len(fields) != 1 {
		return errors.Join(err, fmt.Errorf("%.40q is no value of a %s", text, v.Type()))
	}
	for name, text := range fields {
		of := c.types[name]
		if of == nil || !of.Implements(v.Type()) {
			return fmt.Errorf("this version knows no %.40s", name)
		}
		value := reflect.New(of).Elem()
		if err := c.decode(text, value); err != nil {
			return err
		}
		v.Set(value)
	}
	return nil
}

// maxSamples is the most audio in one value: a minute.
const maxSamples = 60 * 24000

func (c *Codec) decodeSlice(text []byte, v reflect.Value) error {
	switch v.Type().Elem().Kind() { //nolint:exhaustive // the lines after it have the rest
	case reflect.Uint8:
		said, err := decodeText(text)
		v.SetBytes([]byte(said))
		return err
	case reflect.Int16:
		if text[0] != '"' {
			var n int
			if err := json.Unmarshal(text, &n); err != nil || n < 0 || n > maxSamples {
				return fmt.Errorf("%.40q is no length of audio", text)
			}
			v.Set(reflect.ValueOf(make([]int16, n)))
			return nil
		}
		var sound []byte
		err := json.Unmarshal(text, &sound)
		v.Set(reflect.ValueOf(voice.BytesToPCM16(nil, sound)))
		return err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), len(all), len(all)))
	for i, text := range all {
		if err := c.decode(text, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// fault is an error in a logbook.
type fault struct {
	Text string
	Is   []string                     // the texts of those of Codec.same that it is
	As   map[string]map[string]string // by the type: the texts in each error of Codec.kinds that it has
}

func (c *Codec) fault(err error) fault {
	f := fault{Text: err.Error(), As: map[string]map[string]string{}}
	for _, same := range c.same {
		if errors.Is(err, same) {
			f.Is = append(f.Is, same.Error())
		}
	}
	for _, kind := range c.kinds {
		to := reflect.New(reflect.TypeOf(kind))
		if !errors.As(err, to.Interface()) {
			continue
		}
		texts, of := map[string]string{}, to.Elem().Elem()
		for i := range of.NumField() {
			if of.Field(i).Kind() == reflect.String {
				texts[of.Type().Field(i).Name] = of.Field(i).String()
			}
		}
		f.As[reflect.TypeOf(kind).String()] = texts
	}
	return f
}

// recalled is an error that a logbook has.
type recalled struct {
	text string
	has  []error
}

func (r *recalled) Error() string { return r.text }

// Unwrap is for errors.Is and errors.As.
func (r *recalled) Unwrap() []error { return r.has }

func (c *Codec) recall(f fault) error {
	r := &recalled{text: f.Text}
	for _, same := range c.same {
		if slices.Contains(f.Is, same.Error()) {
			r.has = append(r.has, same)
		}
	}
	for _, kind := range c.kinds {
		of := reflect.New(reflect.TypeOf(kind).Elem())
		texts, is := f.As[of.Type().String()]
		for name, text := range texts {
			if field := of.Elem().FieldByName(name); field.Kind() == reflect.String && field.CanSet() {
				field.SetString(text)
			}
		}
		if err, _ := of.Interface().(error); is {
			r.has = append(r.has, err)
		}
	}
	return r
}
