// Package onnx runs models with the library of ONNX Runtime that sherpa-onnx brings, in the process of an engine.
package onnx

// This file opens the library and binds its functions.

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// Errors of the library and of the model.
var (
	// ErrLibrary: ONNX Runtime cannot be used.
	ErrLibrary = errors.New("ONNX Runtime cannot be used")
	// ErrModel: ONNX Runtime does not take the model.
	ErrModel = errors.New("ONNX Runtime cannot use the model")
)

// Values of onnxruntime_c_api.h.
const (
	// apiVersion is the version of the interface that is asked for. A newer library has it too: its table of functions only grows at the end.
	apiVersion     = 13
	errorsOnly     = 3 // ORT_LOGGING_LEVEL_ERROR
	allOptimising  = 99
	arenaAllocator = 1
	defaultMemory  = 0
	floatTensor    = 1
	longTensor     = 7
	boolTensor     = 9
)

// The places of functions in the table OrtApi of onnxruntime_c_api.h.
const (
	placeErrorMessage      = 2
	placeCreateEnv         = 3
	placeSessionFromArray  = 8
	placeRun               = 9
	placeCreateOptions     = 10
	placeSeverity          = 22
	placeOptimise          = 23
	placeIntraThreads      = 24
	placeInterThreads      = 25
	placeTensorWithData    = 49
	placeTensorData        = 51
	placeDimensionCount    = 61
	placeDimensions        = 62
	placeTensorShape       = 65
	placeCreateMemoryInfo  = 69
	placeReleaseEnv        = 92
	placeReleaseStatus     = 93
	placeReleaseMemoryInfo = 94
	placeReleaseSession    = 95
	placeReleaseValue      = 96
	placeReleaseShape      = 99
	placeReleaseOptions    = 100
	tableSize              = 101
)

// status is an OrtStatus*. 0 means that the call has worked.
type status = uintptr

// Library has the functions of ONNX Runtime that this package calls. Pointers to its objects are uintptr.
type Library struct {
	// Version is that of the library.
	Version string
	tensorCalls

	errorMessage  func(status) *byte
	releaseStatus func(status)

	createEnv      func(level int32, name *byte, env *uintptr) status
	createOptions  func(options *uintptr) status
	severity       func(options uintptr, level int32) status
	optimise       func(options uintptr, level int32) status
	intraThreads   func(options uintptr, n int32) status
	interThreads   func(options uintptr, n int32) status
	sessionOf      func(env uintptr, model *byte, bytes uintptr, options uintptr, session *uintptr) status
	run            func(session, options uintptr, inputs **byte, values *uintptr, n uintptr, outputs **byte, m uintptr, results *uintptr) status
	createMemory   func(allocator, kind int32, memory *uintptr) status
	releaseEnv     func(uintptr)
	releaseMemory  func(uintptr)
	releaseSession func(uintptr)
	releaseOptions func(uintptr)
}

// tensorCalls are the functions for inputs and outputs.
type tensorCalls struct {
	tensorWithData func(memory uintptr, data unsafe.Pointer, bytes uintptr, shape *int64, dimensions uintptr, kind int32, value *uintptr) status
	tensorData     func(value uintptr, data **float32) status
	tensorShape    func(value uintptr, shape *uintptr) status
	dimensionCount func(shape uintptr, n *uintptr) status
	dimensions     func(shape uintptr, sizes *int64, n uintptr) status
	releaseValue   func(uintptr)
	releaseShape   func(uintptr)
}

// Open opens libonnxruntime.so in that folder.
func Open(folder string) (*Library, error) {
	h, err := dynlib.Open(filepath.Join(folder, "libonnxruntime.so"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	address, err := dynlib.Symbol(h, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	var base func() *[2]uintptr // GetApi, GetVersionString
	purego.RegisterFunc(&base, address)
	both := base()
	var getAPI func(version uint32) *[tableSize]uintptr
	var getVersion func() *byte
	purego.RegisterFunc(&getAPI, both[0])
	purego.RegisterFunc(&getVersion, both[1])
	l := &Library{Version: text(getVersion())}
	table := getAPI(apiVersion)
	if table == nil {
		return nil, fmt.Errorf("%w: its version %s is too old", ErrLibrary, l.Version)
	}
	for place, fn := range map[int]any{
		placeErrorMessage: &l.errorMessage, placeReleaseStatus: &l.releaseStatus, placeCreateEnv: &l.createEnv, placeCreateOptions: &l.createOptions,
		placeSeverity: &l.severity, placeOptimise: &l.optimise, placeIntraThreads: &l.intraThreads, placeInterThreads: &l.interThreads, placeSessionFromArray: &l.sessionOf,
		placeRun: &l.run, placeCreateMemoryInfo: &l.createMemory, placeTensorWithData: &l.tensorWithData, placeTensorData: &l.tensorData,
		placeTensorShape: &l.tensorShape, placeDimensionCount: &l.dimensionCount, placeDimensions: &l.dimensions, placeReleaseEnv: &l.releaseEnv, placeReleaseMemoryInfo: &l.releaseMemory,
		placeReleaseSession: &l.releaseSession, placeReleaseValue: &l.releaseValue, placeReleaseShape: &l.releaseShape, placeReleaseOptions: &l.releaseOptions,
	} {
		purego.RegisterFunc(fn, table[place])
	}
	return l, nil
}

// check returns the error of a status and frees the status.
func (l *Library) check(s status) error {
	if s == 0 {
		return nil
	}
	defer l.releaseStatus(s)
	return fmt.Errorf("%w: %s", ErrModel, text(l.errorMessage(s)))
}

// text returns a text of the library, of at most 4096 bytes.
func text(p *byte) string {
	s, _ := dynlib.GoString(p, 4096)
	return s
}
