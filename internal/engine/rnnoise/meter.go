package rnnoise

// This file adds a meter to a WebAssembly program, so that each call of the program ends, even if the program loops without end.

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// wazero compiles a program to machine code in which Go cannot stop it. While such a program runs, Go's garbage collector waits for it, and
// then the whole process waits. wazero can stop a program when a context ends, but then each turn of a loop calls back into Go: with that,
// RNNoise took ten times the processor time. So metered changes the program: it adds a global variable, the fuel, and code that
// counts the fuel down at the begin of each function and of each turn of a loop. Without fuel the program traps, and the call returns an error.

// fuelName is the name under which a metered program exports its fuel, a variable of type i64.
const fuelName = "antiphon_fuel"

// errProgram is the error of metered for a program that it does not understand.
var errProgram = errors.New("not a WebAssembly program that can be metered")

// The binary format of WebAssembly (WebAssembly Core Specification 2.0, chapter 5): the header, sections, kinds of imports and exports.
const (
	wasmHeader = "\x00asm\x01\x00\x00\x00"

	sectionImport, sectionGlobal, sectionExport, sectionCode, sectionDataCount = 2, 6, 7, 10, 12

	kindFunction, kindTable, kindMemory, kindGlobal = 0, 1, 2, 3
)

// fuelGlobal is the variable as the section of globals has it: an i64 that changes and begins as 0.
var fuelGlobal = []byte{0x7e, 1, 0x42, 0, 0x0b}

// metered returns the program with a meter. The program must export something and have code.
func metered(program []byte) ([]byte, error) {
	if len(program) < len(wasmHeader) || string(program[:len(wasmHeader)]) != wasmHeader {
		return nil, errProgram
	}
	m := meter{out: []byte(wasmHeader)}
	for r := (&reader{b: program[len(wasmHeader):]}); len(r.b) > 0; {
		id, body := r.byte(), r.bytes(r.number())
		if r.bad || !m.section(id, &reader{b: body}) {
			return nil, fmt.Errorf("%w: section %d", errProgram, id)
		}
	}
	if !m.exported || !m.charged {
		return nil, fmt.Errorf("%w: it has no exports or no code", errProgram)
	}
	return m.out, nil
}

// meter is the state of metered.
type meter struct {
	out      []byte
	fuel     uint64 // the number of the variable; until it is there, the number of globals
	hasFuel  bool
	exported bool
	charged  bool
}

// section appends a section to the output, changed where the meter needs it. It reports false for one that it does not understand.
func (m *meter) section(id byte, body *reader) bool {
	// The sections stand in the order of their numbers, but for custom ones (0) and the one that counts data segments, which stands before the code.
	if !m.hasFuel && id > sectionGlobal {
		m.put(sectionGlobal, append([]byte{1}, fuelGlobal...))
		m.hasFuel = true
	}
	whole := body.b
	switch id {
	case sectionImport:
		for n := body.number(); n > 0 && !body.bad; n-- {
			if body.skipImport() == kindGlobal {
				m.fuel++
			}
		}
	case sectionGlobal:
		n := body.number()
		m.fuel += n
		m.hasFuel = true
		whole = append(append(binary.AppendUvarint(nil, n+1), body.b...), fuelGlobal...)
	case sectionExport:
		whole = append(binary.AppendUvarint(nil, body.number()+1), body.b...)
		whole = append(append(append(whole, byte(len(fuelName))), fuelName...), kindGlobal)
		whole = binary.AppendUvarint(whole, m.fuel)
		m.exported = true
	case sectionCode:
		whole = m.code(body)
		m.charged = true
	}
	m.put(id, whole)
	return !body.bad
}

// put appends a section to the output.
func (m *meter) put(id byte, body []byte) {
	m.out = append(binary.AppendUvarint(append(m.out, id), uint64(len(body))), body...)
}

// code returns the section of the functions' code with the instructions that count the fuel down.
func (m *meter) code(body *reader) []byte {
	// If there is no fuel, trap. Take 1 from it.
	get := binary.AppendUvarint([]byte{0x23}, m.fuel)
	charge := append(append(append([]byte{}, get...), 0x50, 0x04, 0x40, 0x00, 0x0b), get...) // i64.eqz, if, unreachable, end
	charge = binary.AppendUvarint(append(charge, 0x42, 0x7f, 0x7c, 0x24), m.fuel)            // i64.const -1, i64.add, global.set
	n := body.number()
	out := binary.AppendUvarint(nil, n)
	for ; n > 0 && !body.bad; n-- {
		f := &reader{b: body.bytes(body.number())}
		at := f.b
		for locals := f.number(); locals > 0 && !f.bad; locals-- {
			f.number() // how many
			f.byte()   // of which type
		}
		function := append(append([]byte(nil), at[:len(at)-len(f.b)]...), charge...)
		for len(f.b) > 0 && !f.bad {
			at = f.b
			loop := f.skipInstruction()
			function = append(function, at[:len(at)-len(f.b)]...)
			if loop {
				function = append(function, charge...)
			}
		}
		body.bad = body.bad || f.bad
		out = append(binary.AppendUvarint(out, uint64(len(function))), function...)
	}
	return out
}
