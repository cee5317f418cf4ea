package sphinx

// This file binds the functions of the C library.

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// library has the functions of the C library. They are the same in pocketsphinx 0.8 and 5, except for those that make a
// configuration.
type library struct {
	handle uintptr

	initDecoder func(config uintptr) uintptr
	freeDecoder func(ps uintptr) int32
	startUtt    func(ps uintptr) int32
	endUtt      func(ps uintptr) int32
	processCep  func(ps uintptr, frames **float32, n, noSearch, fullUtt int32) int32
	hypothesis  func(ps uintptr, score *int32) string

	segments func(ps uintptr) uintptr
	next     func(seg uintptr) uintptr
	word     func(seg uintptr) string
	frames   func(seg uintptr, start, end *int32)

	logMath      func(ps uintptr) uintptr
	readModel    func(config uintptr, path string, kind int32, logMath uintptr) uintptr
	newModelSet  func(config uintptr, models *uintptr, names **byte, weights *float32, n int32) uintptr
	interpolate  func(set uintptr, names **byte, weights *float32) uintptr
	setModel     func(ps uintptr, name string, model uintptr) int32
	selectSearch func(ps uintptr, name string) int32

	configure func(settings []Setting) (config uintptr, free func(), err error)
}

var errSymbols = errors.New("this is not a pocketsphinx library that can be used")

// open loads the library and binds its functions.
func open(path string) (*library, error) {
	h, err := dynlib.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	l := &library{handle: h}
	for name, fn := range map[string]any{
		"ps_init": &l.initDecoder, "ps_free": &l.freeDecoder, "ps_start_utt": &l.startUtt, "ps_end_utt": &l.endUtt,
		"ps_process_cep": &l.processCep, "ps_get_hyp": &l.hypothesis,
		"ps_get_logmath": &l.logMath, "ngram_model_read": &l.readModel, "ngram_model_set_init": &l.newModelSet,
		"ngram_model_set_interp": &l.interpolate, "ps_set_lm ps_add_lm": &l.setModel, "ps_set_search ps_activate_search": &l.selectSearch,
		"ps_seg_iter": &l.segments, "ps_seg_next": &l.next, "ps_seg_word": &l.word, "ps_seg_frames": &l.frames,
	} {
		if err := l.bind(fn, name); err != nil {
			return nil, err
		}
	}
	if l.bindConfig5() == nil {
		return l, nil
	}
	return l, l.bindConfig08()
}

// bind sets fn to the function with the first of the names that the library has. Some functions have another name in version 5.
func (l *library) bind(fn any, names string) error {
	var missing error
	for name := range strings.FieldsSeq(names) {
		sym, err := dynlib.Symbol(l.handle, name)
		if err == nil {
			purego.RegisterFunc(fn, sym)
			return nil
		}
		missing = err
	}
	return fmt.Errorf("%w: %w", errSymbols, missing)
}

// bindConfig5 binds the configuration of pocketsphinx 5.
func (l *library) bindConfig5() error {
	var newConfig func(defaults uintptr) uintptr
	var freeConfig func(config uintptr) int32
	var set func(config uintptr, name, value string) uintptr
	for name, fn := range map[string]any{"ps_config_init": &newConfig, "ps_config_free": &freeConfig, "ps_config_set_str": &set} {
		if err := l.bind(fn, name); err != nil {
			return err
		}
	}
	l.configure = func(settings []Setting) (uintptr, func(), error) {
		c := newConfig(0)
		for _, s := range settings {
			if set(c, s.Name, s.Value) == 0 {
				freeConfig(c)
				return 0, nil, fmt.Errorf("pocketsphinx does not take %s=%s: %w", s.Name, s.Value, errConfig)
			}
		}
		return c, func() { freeConfig(c) }, nil
	}
	return nil
}

// bindConfig08 binds the configuration of pocketsphinx 0.8, which is in its library sphinxbase.
func (l *library) bindConfig08() error {
	var definitions func() uintptr
	var parse func(into, definitions uintptr, argc int32, argv **byte, strict int32) uintptr
	var freeConfig func(config uintptr) int32
	for name, fn := range map[string]any{"ps_args": &definitions, "cmd_ln_parse_r": &parse, "cmd_ln_free_r": &freeConfig} {
		if err := l.bind(fn, name); err != nil {
			return err
		}
	}
	l.configure = func(settings []Setting) (uintptr, func(), error) {
		args := []*byte{dynlib.CString("antiphon")}
		for _, s := range settings {
			args = append(args, dynlib.CString("-"+s.Name), dynlib.CString(s.Value))
		}
		c := parse(0, definitions(), int32(len(args)), unsafe.SliceData(args), 1)
		runtime.KeepAlive(args)
		if c == 0 {
			return 0, nil, errConfig
		}
		return c, func() { freeConfig(c) }, nil
	}
	return nil
}

var errConfig = errors.New("pocketsphinx does not take its configuration")
