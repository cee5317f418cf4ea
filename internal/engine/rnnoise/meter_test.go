package rnnoise

// The meter: programs that would not end do end, and bad programs are refused.

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// wasm returns a program with one function of type () -> (), which it exports as "f", with that code.
func wasm(code ...byte) []byte {
	p := append([]byte(wasmHeader),
		1, 4, 1, 0x60, 0, 0, // the type
		3, 2, 1, 0, // the function
		7, 5, 1, 1, 'f', 0, 0, // the export
	)
	body := append(append([]byte{0}, code...), 0x0b)
	return append(append(p, 10, byte(len(body)+2), 1, byte(len(body))), body...)
}

var (
	looping   = wasm(0x03, 0x40, 0x0c, 0, 0x0b) // loop: branch to the loop
	recursing = wasm(0x10, 0, 0x10, 0)          // calls itself twice
	harmless  = wasm(0x03, 0x40, 0x0b)
)

// run runs f of a program with some fuel, and returns the fuel that is left.
func run(t *testing.T, program []byte, fuel uint64) (left uint64, err error) {
	t.Helper()
	g := gomega.NewWithT(t)
	with, err := metered(program)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer func() { g.Expect(r.Close(ctx)).To(gomega.Succeed()) }()
	m, err := r.Instantiate(ctx, with)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	tank, is := m.ExportedGlobal(fuelName).(api.MutableGlobal)
	g.Expect(is).To(gomega.BeTrue())
	tank.Set(fuel)
	_, err = m.ExportedFunction("f").Call(ctx)
	return tank.Get(), err
}

func TestAProgramWithoutEndEnds(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, program := range [][]byte{looping, recursing} {
		left, err := run(t, program, 1000)
		g.Expect(err).To(gomega.HaveOccurred())
		g.Expect(left).To(gomega.BeNumerically("<", 1000))
	}
	left, err := run(t, looping, 50_000)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("unreachable")))
	g.Expect(left).To(gomega.BeZero())
	left, err = run(t, harmless, 1000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(left).To(gomega.Equal(uint64(998)), "one function, one turn of a loop")
}

func TestWhatCannotBeMetered(t *testing.T) {
	g := gomega.NewWithT(t)
	for name, program := range map[string][]byte{
		"nothing": nil, "another file": []byte("#!/bin/sh\necho"), "no code": []byte(wasmHeader), "unknown instruction": wasm(0xff),
		"cut off": harmless[:len(harmless)-2], "a section without end": append([]byte(wasmHeader), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		_, err := metered(program)
		g.Expect(err).To(gomega.MatchError(errProgram), name)
	}
}

// The real program is changed, and no beginning of it makes the reader fail in another way than with an error.
func TestTheRealProgramCutOff(t *testing.T) {
	g := gomega.NewWithT(t)
	program, err := os.ReadFile(filepath.Join(store, "rnnoise", file))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	with, err := metered(program)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(with)).To(gomega.BeNumerically(">", len(program)))
	for n := 0; n < len(program); n += 997 {
		_, err := metered(program[:n])
		g.Expect(err).To(gomega.HaveOccurred())
	}
}
