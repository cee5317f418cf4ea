// Package slim makes a Go program in WebAssembly smaller: packed it is a fifth smaller. The program behaves as before, except that the
// stack in the text of a panic has no names.
//
// The package does two things. Go's linker leaves out every run of zeros of the memory that a program starts with, and so makes tens of
// thousands of data segments with an address each. The package joins them to one segment with its zeros, which packs better and loads
// faster. And it empties the tables from which the runtime prints a stack: names of functions and files, numbers of lines.
package slim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrTables says that Program left the names in, because the program's tables do not have the form that this package knows: another
// version of Go may have changed it. Program returns it together with a program.
var ErrTables = errors.New("the program's table of functions is not as Go 1.20 to 1.26 write it: its names are left in")

// memoryMost is the largest memory, in bytes, that a program may start with. It limits how much memory a malformed program can claim.
const memoryMost = 64 << 20

// Sections of a module: https://webassembly.github.io/spec/core/binary/modules.html#sections.
const (
	header        = "\x00asm\x01\x00\x00\x00"
	dataSection   = 11
	countSection  = 12 // the number of data segments; a compiler may leave it out
	opI32Const    = 0x41
	opEnd         = 0x0b
	activeSegment = 0 // a segment of memory 0, at an offset
)

// Program returns the smaller program. With the error ErrTables the program is valid and has its segments joined. With every other error
// it is nil: the input is no program of Go's.
func Program(wasm []byte) ([]byte, error) {
	if len(wasm) < len(header) || string(wasm[:len(header)]) != header {
		return nil, errors.New("slim: this is no WebAssembly module of version 1")
	}
	var tables error
	out := slices.Clone(wasm[:len(header)])
	for r := (reader{rest: wasm[len(header):]}); len(r.rest) > 0; {
		id := r.byte()
		content := r.bytes(r.uint())
		if r.err != nil {
			return nil, fmt.Errorf("slim: section %d: %w", id, r.err)
		}
		switch id {
		case countSection:
			content = []byte{1}
		case dataSection:
			at, memory, err := load(content)
			if err != nil {
				return nil, fmt.Errorf("slim: the data section: %w", err)
			}
			tables = forget(memory)
			content = segment(at, memory)
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(content)))
		out = append(out, content...)
	}
	return out, tables
}

// load returns the memory content that a data section describes, and its address.
func load(section []byte) (at int, memory []byte, err error) {
	r := reader{rest: section}
	type piece struct {
		at      int
		content []byte
	}
	var pieces []piece
	first, end := memoryMost, 0
	for range r.uint() {
		kind, op, at := r.byte(), r.byte(), r.int()
		if r.err == nil && (kind != activeSegment || op != opI32Const || r.byte() != opEnd) {
			return 0, nil, errors.New("a segment is not at a fixed place of the memory, as Go's are")
		}
		p := piece{at: at, content: r.bytes(r.uint())}
		if r.err != nil {
			return 0, nil, r.err
		}
		if p.at < 0 || p.at+len(p.content) > memoryMost {
			return 0, nil, fmt.Errorf("a segment is at %d, and this package takes programs of up to %d bytes", p.at, memoryMost)
		}
		first, end = min(first, p.at), max(end, p.at+len(p.content))
		pieces = append(pieces, p)
	}
	if r.err != nil || len(pieces) == 0 {
		return 0, nil, r.err
	}
	memory = make([]byte, end-first)
	for _, p := range pieces {
		copy(memory[p.at-first:], p.content)
	}
	return first, memory, nil
}

// segment returns a data section with one segment.
func segment(at int, memory []byte) []byte {
	out := []byte{1, activeSegment, opI32Const}
	out = appendInt(out, at)
	out = append(out, opEnd)
	out = binary.AppendUvarint(out, uint64(len(memory)))
	return append(out, memory...)
}

// appendInt appends a signed LEB128 number.
func appendInt(out []byte, n int) []byte {
	for ; n < -64 || n > 63; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n)&0x7f)
}

// reader reads a module's numbers. After an error its methods return zeros.
type reader struct {
	rest []byte
	err  error
}

var errShort = errors.New("it ends too early")

func (r *reader) bytes(n uint64) []byte {
	if r.err == nil && n > uint64(len(r.rest)) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// uint reads an unsigned LEB128 number.
func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.err == nil && size <= 0 {
		r.err = errShort
	}
	if r.err != nil {
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// int reads a signed LEB128 number of 32 bits.
func (r *reader) int() int {
	n := 0
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				n -= 1 << (shift + 7)
			}
			return n
		}
	}
	if r.err == nil {
		r.err = errors.New("a number is too long")
	}
	return 0
}
