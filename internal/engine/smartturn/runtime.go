package smartturn

// ONNX Runtime: this file opens its library and runs one model with it.

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

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
	warnings       = 2 // ORT_LOGGING_LEVEL_WARNING
	allOptimising  = 99
	arenaAllocator = 1
	defaultMemory  = 0
	floatTensor    = 1
)

// The places of functions in the table OrtApi of onnxruntime_c_api.h.
const (
	placeErrorMessage      = 2
	placeCreateEnv         = 3
	placeCreateSession     = 7
	placeRun               = 9
	placeCreateOptions     = 10
	placeOptimise          = 23
	placeIntraThreads      = 24
	placeInterThreads      = 25
	placeTensorWithData    = 49
	placeTensorData        = 51
	placeElementCount      = 64
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

// library has the functions of ONNX Runtime that this package calls. Pointers to its objects are uintptr.
type library struct {
	errorMessage  func(status) *byte
	releaseStatus func(status)

	createEnv      func(level int32, name *byte, env *uintptr) status
	createOptions  func(options *uintptr) status
	optimise       func(options uintptr, level int32) status
	intraThreads   func(options uintptr, n int32) status
	interThreads   func(options uintptr, n int32) status
	createSession  func(env uintptr, path *byte, options uintptr, session *uintptr) status
	run            func(session, options uintptr, inputs **byte, values *uintptr, n uintptr, outputs **byte, m uintptr, results *uintptr) status
	createMemory   func(allocator, kind int32, memory *uintptr) status
	tensorWithData func(memory uintptr, data *float32, bytes uintptr, shape *int64, dimensions uintptr, kind int32, value *uintptr) status
	tensorData     func(value uintptr, data **float32) status
	tensorShape    func(value uintptr, shape *uintptr) status
	elementCount   func(shape uintptr, n *uintptr) status
	releaseEnv     func(uintptr)
	releaseMemory  func(uintptr)
	releaseSession func(uintptr)
	releaseValue   func(uintptr)
	releaseShape   func(uintptr)
	releaseOptions func(uintptr)
}

// openLibrary opens libonnxruntime.so in that folder, and returns its version, too.
func openLibrary(folder string) (l *library, version string, err error) {
	h, err := dynlib.Open(filepath.Join(folder, "libonnxruntime.so"))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	address, err := dynlib.Symbol(h, "OrtGetApiBase")
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	var base func() *[2]uintptr // GetApi, GetVersionString
	purego.RegisterFunc(&base, address)
	both := base()
	var getAPI func(version uint32) *[tableSize]uintptr
	var getVersion func() *byte
	purego.RegisterFunc(&getAPI, both[0])
	purego.RegisterFunc(&getVersion, both[1])
	version = text(getVersion())
	table := getAPI(apiVersion)
	if table == nil {
		return nil, "", fmt.Errorf("%w: its version %s is too old", ErrLibrary, version)
	}
	l = &library{}
	for place, fn := range map[int]any{
		placeErrorMessage: &l.errorMessage, placeReleaseStatus: &l.releaseStatus, placeCreateEnv: &l.createEnv, placeCreateOptions: &l.createOptions,
		placeOptimise: &l.optimise, placeIntraThreads: &l.intraThreads, placeInterThreads: &l.interThreads, placeCreateSession: &l.createSession,
		placeRun: &l.run, placeCreateMemoryInfo: &l.createMemory, placeTensorWithData: &l.tensorWithData, placeTensorData: &l.tensorData,
		placeTensorShape: &l.tensorShape, placeElementCount: &l.elementCount, placeReleaseEnv: &l.releaseEnv, placeReleaseMemoryInfo: &l.releaseMemory,
		placeReleaseSession: &l.releaseSession, placeReleaseValue: &l.releaseValue, placeReleaseShape: &l.releaseShape, placeReleaseOptions: &l.releaseOptions,
	} {
		purego.RegisterFunc(fn, table[place])
	}
	return l, version, nil
}

// check returns the error of a status and frees the status.
func (l *library) check(s status) error {
	if s == 0 {
		return nil
	}
	defer l.releaseStatus(s)
	return fmt.Errorf("%w: %s", ErrModel, text(l.errorMessage(s)))
}

// model is a model that is loaded. Only one goroutine may use it.
type model struct {
	lib     *library
	env     uintptr
	session uintptr
	memory  uintptr
	pinner  runtime.Pinner
	names   [2]*byte // of the input and of the output
}

// load loads the model of a file, for that many threads.
func (l *library) load(path string, threads int) (_ *model, err error) {
	m := &model{lib: l, names: [2]*byte{dynlib.CString("input_features"), dynlib.CString("logits")}}
	for _, name := range m.names {
		m.pinner.Pin(name)
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	name, file := dynlib.CString("antiphon"), dynlib.CString(path)
	if err := l.check(l.createEnv(warnings, name, &m.env)); err != nil {
		return nil, err
	}
	if err := l.check(l.createMemory(arenaAllocator, defaultMemory, &m.memory)); err != nil {
		return nil, err
	}
	var options uintptr
	if err := l.check(l.createOptions(&options)); err != nil {
		return nil, err
	}
	defer l.releaseOptions(options)
	for _, s := range []status{l.optimise(options, allOptimising), l.intraThreads(options, int32(threads)), l.interThreads(options, 1)} {
		if err := l.check(s); err != nil {
			return nil, err
		}
	}
	err = l.check(l.createSession(m.env, file, options, &m.session))
	runtime.KeepAlive(name)
	return m, err
}

// probability runs the model with the features of extractor.extract.
func (m *model) probability(features []float32) (float64, error) {
	l := m.lib
	shape := [3]int64{1, mels, frames}
	var input, output, tensor uintptr
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&features[0])
	if err := l.check(l.tensorWithData(m.memory, &features[0], uintptr(4*len(features)), &shape[0], 3, floatTensor, &input)); err != nil {
		return 0, err
	}
	defer l.releaseValue(input)
	if err := l.check(l.run(m.session, 0, &m.names[0], &input, 1, &m.names[1], 1, &output)); err != nil {
		return 0, err
	}
	defer l.releaseValue(output)
	if err := l.check(l.tensorShape(output, &tensor)); err != nil {
		return 0, err
	}
	defer l.releaseShape(tensor)
	var n uintptr
	if err := l.check(l.elementCount(tensor, &n)); err != nil {
		return 0, err
	}
	if n != 1 {
		return 0, fmt.Errorf("%w: it has %d results, want 1", ErrModel, n)
	}
	var result *float32
	if err := l.check(l.tensorData(output, &result)); err != nil {
		return 0, err
	}
	p := float64(*result)
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("%w: its result %v is no probability", ErrModel, p)
	}
	return p, nil
}

func (m *model) close() {
	if m.session != 0 {
		m.lib.releaseSession(m.session)
	}
	if m.memory != 0 {
		m.lib.releaseMemory(m.memory)
	}
	if m.env != 0 {
		m.lib.releaseEnv(m.env)
	}
	m.pinner.Unpin()
}

// text returns a text of the library, of at most 4096 bytes.
func text(p *byte) string {
	s, _ := dynlib.GoString(p, 4096)
	return s
}
