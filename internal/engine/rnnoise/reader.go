package rnnoise

// This file reads the binary format of WebAssembly, as far as the meter needs it (WebAssembly Core Specification 2.0, sections 5.4 and 5.5).

// reader reads the begin of b and takes it away. After a read beyond the end, or of something unknown, bad is true and every read returns 0.
type reader struct {
	b   []byte
	bad bool
}

// fail notes that the bytes are not understood.
func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	first := r.b[0]
	r.b = r.b[1:]
	return first
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

// number reads an integer in LEB128. The value is only right for one without sign.
func (r *reader) number() (v uint64) {
	const longest = 10 // bytes, of an integer of 64 bits
	for i := range longest {
		b := r.byte()
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v
		}
	}
	r.fail()
	return 0
}

// numbers skips n integers.
func (r *reader) numbers(n uint64) {
	for ; n > 0 && !r.bad; n-- {
		r.number()
	}
}

// skipImport reads an import and returns its kind.
func (r *reader) skipImport() byte {
	r.bytes(r.number()) // module
	r.bytes(r.number()) // name
	kind := r.byte()
	switch kind {
	case kindFunction:
		r.number()
	case kindTable:
		r.byte() // type of the references
		r.skipLimits()
	case kindMemory:
		r.skipLimits()
	case kindGlobal:
		r.bytes(2) // type, and whether it changes
	default:
		r.fail()
	}
	return kind
}

// skipLimits reads the least size of a table or a memory, and the largest one if there is one.
func (r *reader) skipLimits() {
	if r.byte()&1 != 0 {
		r.number()
	}
	r.number()
}

// skipInstruction reads an instruction with its operands, and reports whether it begins a loop.
func (r *reader) skipInstruction() (loop bool) {
	switch op := r.byte(); {
	case op >= 0x02 && op <= 0x04: // block, loop, if: the type
		r.number()
		return op == 0x03
	case op == 0x0c, op == 0x0d, op == 0x10, op >= 0x20 && op <= 0x26, op == 0x3f, op == 0x40, op == 0x41, op == 0x42, op == 0xd0, op == 0xd2:
		r.number() // a label, a function, a variable, a table, a memory, a constant
	case op == 0x0e: // br_table: labels, and one more
		r.numbers(r.number())
		r.number()
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect: type and table; loads and stores: alignment and offset
		r.numbers(2)
	case op == 0x1c: // select with types
		r.bytes(r.number())
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == 0xfc:
		r.skipBulk(r.number())
	case op == 0xfd:
		r.skipVector(r.number())
	case op <= 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1: // no operands
	default:
		r.fail()
	}
	return false
}

// skipBulk reads the operands of an instruction with the prefix 0xfc.
func (r *reader) skipBulk(op uint64) {
	switch {
	case op <= 7: // conversions
	case op == 8, op == 10, op == 12, op == 14:
		r.numbers(2)
	case op <= 17:
		r.number()
	default:
		r.fail()
	}
}

// skipVector reads the operands of a vector instruction, with the prefix 0xfd.
func (r *reader) skipVector(op uint64) {
	switch {
	case op <= 11, op == 92, op == 93: // loads and stores
		r.numbers(2)
	case op == 12, op == 13: // a constant, or 16 lanes
		r.bytes(16)
	case op >= 21 && op <= 34: // a lane
		r.byte()
	case op >= 84 && op <= 91: // loads and stores of a lane
		r.numbers(2)
		r.byte()
	case op > 255:
		r.fail()
	}
}
