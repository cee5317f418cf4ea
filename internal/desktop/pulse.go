//go:build linux

package desktop

// libpulse-simple, called without cgo: a connection to the sound server for one direction.

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

// What the library's functions take: see pulse/simple.h, pulse/sample.h and pulse/def.h.
type (
	direction  int32
	sampleSpec struct {
		format   int32
		rate     uint32
		channels uint8
	}
	bufferAttr struct{ maxLength, targetLength, prebuffer, minRequest, fragment uint32 }
)

const (
	playback  direction = 1
	recording direction = 2
	s16le               = 3
	unset               = ^uint32(0)
)

// library is the functions that are used.
type library struct {
	connect func(server, name *byte, d direction, device, stream *byte, s *sampleSpec, channels uintptr, b *bufferAttr, code *int32) uintptr
	free    func(s uintptr)
	read    func(s uintptr, data *int16, size uintptr, code *int32) int32
	write   func(s uintptr, data *int16, size uintptr, code *int32) int32
	text    func(code int32) string
}

// load opens the library, once.
var load = sync.OnceValues(func() (*library, error) {
	l := &library{}
	simple, err := purego.Dlopen("libpulse-simple.so.0", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLibrary, err)
	}
	core, err := purego.Dlopen("libpulse.so.0", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLibrary, err)
	}
	for name, fn := range map[string]any{
		"pa_simple_new": &l.connect, "pa_simple_free": &l.free, "pa_simple_read": &l.read, "pa_simple_write": &l.write,
	} {
		purego.RegisterLibFunc(fn, simple, name)
	}
	purego.RegisterLibFunc(&l.text, core, "pa_strerror")
	return l, nil
})

// stream is a connection to the sound server. One goroutine at a time.
type stream struct {
	lib    *library
	handle uintptr
}

func open(d direction, device, purpose string) (*stream, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	spec := &sampleSpec{format: s16le, rate: native.Rate, channels: 1}
	buffer := &bufferAttr{maxLength: unset, targetLength: buffered, prebuffer: unset, minRequest: unset, fragment: 2 * block}
	name, what, from := cString("antiphon"), cString(purpose), (*byte)(nil)
	if device != "" {
		from = cString(device)
	}
	var code int32
	h := lib.connect(nil, name, d, from, what, spec, 0, buffer, &code)
	runtime.KeepAlive(name)
	if h == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoServer, lib.text(code))
	}
	return &stream{lib, h}, nil
}

func (s *stream) read(pcm []int16) error {
	var code int32
	if s.lib.read(s.handle, unsafe.SliceData(pcm), uintptr(2*len(pcm)), &code) < 0 {
		return fmt.Errorf("%w: %s", ErrNoServer, s.lib.text(code))
	}
	return nil
}

func (s *stream) write(pcm []int16) error {
	var code int32
	if s.lib.write(s.handle, unsafe.SliceData(pcm), uintptr(2*len(pcm)), &code) < 0 {
		return fmt.Errorf("%w: %s", ErrNoServer, s.lib.text(code))
	}
	return nil
}

func (s *stream) free() { s.lib.free(s.handle) }

func cString(s string) *byte {
	return unsafe.SliceData(append([]byte(strings.ReplaceAll(s, "\x00", "")), 0))
}
