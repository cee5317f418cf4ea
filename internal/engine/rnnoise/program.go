package rnnoise

// This file runs the WebAssembly program: it compiles it once, and calls its functions.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	// maxPages limits the memory of one instance, in pages of 64 KiB: 32 MiB. RNNoise begins with 16 MiB, most of which it never touches.
	maxPages = 512
	// frameFuel is the fuel for one frame. Measured: RNNoise takes at most 48,000 turns of loops and calls of functions for a frame, in 0.25 ms.
	// A million takes about 5 ms.
	frameFuel = 1_000_000
	// startFuel is the fuel for a function that is called once.
	startFuel = 10_000_000
)

// program is RNNoise, compiled. It is safe for concurrent use.
type program struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

// compile compiles RNNoise with a meter. The caller closes the program.
func compile(ctx context.Context, wasm []byte) (_ *program, err error) {
	wasm, err = metered(wasm)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages))
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	p := &program{runtime: r}
	// What the program needs from outside: it was built by Emscripten.
	_, err = r.NewHostModuleBuilder("env").
		NewFunctionBuilder().WithFunc(copyMemory).Export("emscripten_memcpy_big").
		NewFunctionBuilder().WithFunc(growMemory).Export("emscripten_resize_heap").
		NewFunctionBuilder().WithFunc(failAssertion).Export("__assert_fail").
		Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	p.code, err = r.CompileModule(ctx, wasm)
	return p, err
}

func copyMemory(_ context.Context, m api.Module, to, from, n uint32) uint32 {
	dst, ok := m.Memory().Read(to, n)
	src, fine := m.Memory().Read(from, n)
	if !ok || !fine {
		panic(errMemory)
	}
	copy(dst, src)
	return to
}

func growMemory(_ context.Context, m api.Module, bytes uint32) uint32 {
	const page = 64 << 10
	have := m.Memory().Size()
	if bytes <= have {
		return 1
	}
	if _, ok := m.Memory().Grow((bytes - have + page - 1) / page); !ok {
		return 0
	}
	return 1
}

// Errors of the program's own code.
var (
	errMemory    = errors.New("RNNoise used memory that it does not have")
	errAssertion = errors.New("an assertion of RNNoise failed")
)

// failAssertion ends the call into the program: wazero returns what a host function panics with.
func failAssertion(_, _, _, _ uint32) { panic(errAssertion) }

func (p *program) close(ctx context.Context) error { return p.runtime.Close(ctx) }

// instance is one memory in which the program runs, with the states of some calls. Only one goroutine at a time may use it.
type instance struct {
	module  api.Module
	fuel    api.MutableGlobal
	process api.Function
	create  api.Function
	destroy api.Function
	buffer  uint32 // address of frameSamples samples
	stack   [3]uint64
}

// frameSamples is how many samples RNNoise takes at a time: 10 ms at 48 kHz.
const frameSamples = 480

func (p *program) start(ctx context.Context) (_ *instance, err error) {
	m, err := p.runtime.InstantiateModule(ctx, p.code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close(ctx))
		}
	}()
	in := &instance{module: m}
	fuel, ok := m.ExportedGlobal(fuelName).(api.MutableGlobal)
	if !ok || m.Memory() == nil {
		return nil, errProgram
	}
	in.fuel = fuel
	functions := map[string]api.Function{}
	for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors", "malloc", "rnnoise_create", "rnnoise_destroy", "rnnoise_process_frame"} {
		if functions[name] = m.ExportedFunction(name); functions[name] == nil {
			return nil, fmt.Errorf("%w: it has no function %s", errProgram, name)
		}
	}
	in.create, in.destroy, in.process = functions["rnnoise_create"], functions["rnnoise_destroy"], functions["rnnoise_process_frame"]
	for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors"} {
		if _, err := in.call(ctx, functions[name]); err != nil {
			return nil, err
		}
	}
	in.buffer, err = in.call(ctx, functions["malloc"], 4*frameSamples)
	if err == nil && in.buffer == 0 {
		err = errMemory
	}
	return in, err
}

// call calls a function that takes and returns at most some integers.
func (in *instance) call(ctx context.Context, f api.Function, args ...uint64) (uint32, error) {
	in.fuel.Set(startFuel)
	results, err := f.Call(ctx, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return uint32(results[0]), nil
}

// open makes the state of one call, and returns its address.
func (in *instance) open(ctx context.Context) (uint32, error) {
	state, err := in.call(ctx, in.create, 0)
	if err == nil && state == 0 {
		err = errMemory
	}
	return state, err
}

func (in *instance) free(ctx context.Context, state uint32) error {
	_, err := in.call(ctx, in.destroy, uint64(state))
	return err
}

// reduce takes the noise out of one frame, in place. Samples are in the range of 16 bits. The result is 10 ms late.
func (in *instance) reduce(ctx context.Context, state uint32, frame *[frameSamples]float32) error {
	memory, ok := in.module.Memory().Read(in.buffer, 4*frameSamples)
	if !ok {
		return errMemory
	}
	for i, x := range frame {
		binary.LittleEndian.PutUint32(memory[4*i:], math.Float32bits(x))
	}
	in.stack = [3]uint64{uint64(state), uint64(in.buffer), uint64(in.buffer)}
	in.fuel.Set(frameFuel)
	if err := in.process.CallWithStack(ctx, in.stack[:]); err != nil {
		return err
	}
	if memory, ok = in.module.Memory().Read(in.buffer, 4*frameSamples); !ok { // the memory may have grown
		return errMemory
	}
	for i := range frame {
		x := math.Float32frombits(binary.LittleEndian.Uint32(memory[4*i:]))
		if x != x {
			x = 0
		}
		frame[i] = x
	}
	return nil
}
