package sphinx

// This file calls the decoder of the library.

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Setting is one parameter of the decoder: the name of a flag of pocketsphinx, without the dash, and its value.
type Setting struct{ Name, Value string }

// Decoder is a loaded recogniser. It takes one utterance at a time. Only one goroutine may use it.
type Decoder struct {
	lib *library
	ps  uintptr
}

var (
	errDecoder = errors.New("pocketsphinx did not load its model")
	errDecode  = errors.New("pocketsphinx could not decode")
)

// Load opens the library and loads the model. A setting replaces the default with the same name.
func Load(p Paths, settings ...Setting) (*Decoder, error) {
	lib, err := open(p.Library)
	if err != nil {
		return nil, err
	}
	all := append(defaults(p), settings...)
	config, free, err := lib.configure(unique(all))
	if err != nil {
		return nil, err
	}
	defer free()
	d := &Decoder{lib: lib, ps: lib.initDecoder(config)}
	if d.ps == 0 {
		return nil, fmt.Errorf("%w from %s", errDecoder, p.Acoustic)
	}
	if err := d.loadLanguage(config, p.Language); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// unique returns the settings without those that a later one with the same name replaces.
func unique(all []Setting) []Setting {
	at := map[string]int{}
	var out []Setting
	for _, s := range all {
		if i, ok := at[s.Name]; ok {
			out[i] = s
			continue
		}
		at[s.Name] = len(out)
		out = append(out, s)
	}
	return out
}

// Start begins an utterance.
func (d *Decoder) Start() error { return d.check("start", d.lib.startUtt(d.ps)) }

// Feed decodes the next frames.
func (d *Decoder) Feed(frames []cepstrum) error {
	if len(frames) == 0 {
		return nil
	}
	rows := make([]*float32, len(frames))
	for i := range frames {
		rows[i] = &frames[i][0]
	}
	n := d.lib.processCep(d.ps, unsafe.SliceData(rows), int32(len(rows)), 0, 0)
	runtime.KeepAlive(frames)
	runtime.KeepAlive(rows)
	return d.check("process", n)
}

// Finish ends the utterance. The text does not change after it.
func (d *Decoder) Finish() error { return d.check("end", d.lib.endUtt(d.ps)) }

// Text returns the best hypothesis so far.
func (d *Decoder) Text() string {
	var score int32
	return clean(d.lib.hypothesis(d.ps, &score))
}

// Segment is a word and its first and last frame. A frame is 10 ms.
type Segment struct {
	Word       string
	Start, End int
}

// Segments returns the words of the best hypothesis.
func (d *Decoder) Segments() []Segment {
	var out []Segment
	for s := d.lib.segments(d.ps); s != 0; s = d.lib.next(s) {
		var from, to int32
		d.lib.frames(s, &from, &to)
		if w := clean(d.lib.word(s)); w != "" {
			out = append(out, Segment{Word: w, Start: int(from), End: int(to) + 1})
		}
	}
	return out
}

// Close unloads the model.
func (d *Decoder) Close() error {
	if d.ps == 0 {
		return nil
	}
	d.lib.freeDecoder(d.ps)
	d.ps = 0
	return nil
}

func (d *Decoder) check(what string, status int32) error {
	if status < 0 {
		return fmt.Errorf("%w (%s: %d)", errDecode, what, status)
	}
	return nil
}

// clean removes the marks from a text of the decoder: fillers such as <sil> and [NOISE], and the number of a pronunciation as in
// "a(2)".
func clean(s string) string {
	var words []string
	for _, w := range strings.Fields(s) {
		if i := strings.IndexByte(w, '('); i > 0 {
			w = w[:i]
		}
		if w == "" || strings.ContainsAny(w[:1], "<[+") {
			continue
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}
