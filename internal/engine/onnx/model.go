package onnx

// This file loads a model and runs it.

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"unsafe"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// Tensor is an input of a model. One of the slices has its data, unless it is empty.
type Tensor struct {
	Shape  []int64
	Floats []float32
	Longs  []int64
	Bools  []bool
}

// Model is a model that is loaded. Only one goroutine may use it.
type Model struct {
	lib     *Library
	env     uintptr
	session uintptr
	memory  uintptr
	pinner  runtime.Pinner
	inputs  []*byte
	outputs []*byte
}

// LoadFile loads the model of a file. See Load.
func (l *Library) LoadFile(path string, threads int, inputs, outputs []string) (*Model, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	m, err := l.Load(file, threads, inputs, outputs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Load loads a model from the bytes of its file. Run gives it these inputs and returns these outputs. A run takes so many threads.
func (l *Library) Load(file []byte, threads int, inputs, outputs []string) (_ *Model, err error) {
	if len(file) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrModel)
	}
	m := &Model{lib: l}
	m.inputs, m.outputs = m.names(inputs), m.names(outputs)
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	name := dynlib.CString("antiphon")
	if err := l.check(l.createEnv(errorsOnly, name, &m.env)); err != nil {
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
	for _, s := range []status{
		l.severity(options, errorsOnly), l.optimise(options, allOptimising), l.intraThreads(options, int32(threads)), l.interThreads(options, 1),
	} {
		if err := l.check(s); err != nil {
			return nil, err
		}
	}
	err = l.check(l.sessionOf(m.env, &file[0], uintptr(len(file)), options, &m.session))
	runtime.KeepAlive(name)
	return m, err
}

// names returns names as C strings that stay where they are until Close.
func (m *Model) names(all []string) []*byte {
	out := make([]*byte, len(all))
	for i, name := range all {
		out[i] = dynlib.CString(name)
		m.pinner.Pin(out[i])
	}
	return out
}

// Run runs the model, and returns its outputs, all of which are numbers with 32 bits.
func (m *Model) Run(inputs ...Tensor) ([]Tensor, error) {
	l := m.lib
	var pinner runtime.Pinner
	defer pinner.Unpin()
	values, results := make([]uintptr, len(m.inputs)), make([]uintptr, len(m.outputs))
	defer func() {
		for _, v := range append(values, results...) {
			if v != 0 {
				l.releaseValue(v)
			}
		}
	}()
	if len(inputs) != len(m.inputs) {
		return nil, fmt.Errorf("%w: %d inputs, want %d", ErrModel, len(inputs), len(m.inputs))
	}
	for i, t := range inputs {
		data, bytes, kind := t.data()
		pinner.Pin(data)
		if err := l.check(l.tensorWithData(m.memory, data, bytes, unsafe.SliceData(t.Shape), uintptr(len(t.Shape)), kind, &values[i])); err != nil {
			return nil, err
		}
	}
	if err := l.check(l.run(m.session, 0, &m.inputs[0], &values[0], uintptr(len(values)), &m.outputs[0], uintptr(len(results)), &results[0])); err != nil {
		return nil, err
	}
	out := make([]Tensor, len(results))
	for i, v := range results {
		var err error
		if out[i], err = l.read(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// data returns where a tensor has its data, how many bytes they are, and their type. The library wants an address for no data, too.
func (t *Tensor) data() (at unsafe.Pointer, bytes uintptr, kind int32) {
	switch {
	case len(t.Longs) > 0:
		return unsafe.Pointer(&t.Longs[0]), uintptr(8 * len(t.Longs)), longTensor
	case len(t.Bools) > 0:
		return unsafe.Pointer(&t.Bools[0]), uintptr(len(t.Bools)), boolTensor
	case len(t.Floats) > 0:
		return unsafe.Pointer(&t.Floats[0]), uintptr(4 * len(t.Floats)), floatTensor
	}
	return unsafe.Pointer(new(float32)), 0, floatTensor
}

// most limits the numbers of an output.
const most = 64 << 20

// read copies an output.
func (l *Library) read(value uintptr) (t Tensor, err error) {
	var shape, n uintptr
	if err := l.check(l.tensorShape(value, &shape)); err != nil {
		return t, err
	}
	defer l.releaseShape(shape)
	if err := l.check(l.dimensionCount(shape, &n)); err != nil {
		return t, err
	}
	t.Shape = make([]int64, n, n+1)
	if err := l.check(l.dimensions(shape, unsafe.SliceData(t.Shape), n)); err != nil {
		return t, err
	}
	size := int64(1)
	for _, d := range t.Shape {
		if d < 0 || d > most || size > most {
			return t, fmt.Errorf("%w: an output has the shape %v", ErrModel, t.Shape)
		}
		size *= d
	}
	if size > most || size > math.MaxInt32 {
		return t, fmt.Errorf("%w: an output has the shape %v", ErrModel, t.Shape)
	}
	var data *float32
	if err := l.check(l.tensorData(value, &data)); err != nil {
		return t, err
	}
	t.Floats = append(t.Floats, unsafe.Slice(data, size)...)
	return t, nil
}

// Close releases the model.
func (m *Model) Close() {
	if m.session != 0 {
		m.lib.releaseSession(m.session)
	}
	if m.memory != 0 {
		m.lib.releaseMemory(m.memory)
	}
	if m.env != 0 {
		m.lib.releaseEnv(m.env)
	}
	m.session, m.memory, m.env = 0, 0, 0
	m.pinner.Unpin()
}
