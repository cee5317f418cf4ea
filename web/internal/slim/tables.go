package slim

// Empties the tables from which the runtime prints the stack of a panic.

import (
	"bytes"
	"encoding/binary"
)

// The table of functions, as Go's linker writes it and the runtime reads it: pcHeader in runtime/symtab.go, _func in
// runtime/runtime2.go, and step and pcvalue in runtime/symtab.go for the tables of program counters. The header is a magic number,
// two zeros, the smallest instruction and the size of a pointer, then words of 8 bytes.
var magic = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

const (
	headerSize = 72
	funcSize   = 44 // the size of a function's entry, before its two lists
	// Offsets in a function's entry.
	inName      = 4
	inStack     = 16 // table: program counter to size of the frame
	inFile      = 20 // table: to file
	inLine      = 24 // table: to line
	inCount     = 28 // how many tables for the collector follow the entry
	inUnit      = 32 // compilation unit, for the names of files
	inStartLine = 36
)

// functions are the parts of a program's table of functions. They are slices of the program's memory.
type functions struct {
	names, files, tables, entries []byte
	count                         int
}

// forget empties the tables that only serve to print a stack: the names of functions and files, and for each function the tables that
// map a program counter to file and line. It keeps the tables that the collector and a panic need.
func forget(memory []byte) error {
	f, ok := find(memory)
	if !ok {
		return ErrTables
	}
	entries, ok := f.all()
	if !ok {
		return ErrTables
	}
	needed, unneeded := map[uint32]bool{}, map[uint32]bool{}
	for _, e := range entries {
		needed[word(e, inStack)] = true
		for i := range int(word(e, inCount)) {
			needed[word(e, funcSize+4*i)] = true
		}
		unneeded[word(e, inFile)], unneeded[word(e, inLine)] = true, true
	}
	var spans [][]byte
	for at := range unneeded {
		if at == 0 || needed[at] { // tables with the same content are one; 0 is no table
			continue
		}
		span, ok := f.table(at)
		if !ok {
			return ErrTables
		}
		spans = append(spans, span)
	}
	for _, span := range append(spans, f.names, f.files) {
		clear(span)
	}
	for _, e := range entries {
		for _, field := range []int{inName, inFile, inLine, inUnit, inStartLine} {
			clear(e[field : field+4])
		}
	}
	return nil
}

func find(memory []byte) (functions, bool) {
	at := bytes.Index(memory, magic)
	if at < 0 || bytes.Contains(memory[at+1:], magic) || len(memory)-at < headerSize {
		return functions{}, false
	}
	table := memory[at:]
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(table[8*i:]) }
	count, names, units, files, tables, entries := field(1), field(4), field(5), field(6), field(7), field(8)
	ordered := headerSize <= names && names <= units && units <= files && files <= tables && tables <= entries && entries <= uint64(len(table))
	if !ordered || count >= (uint64(len(table))-entries)/8 {
		return functions{}, false
	}
	return functions{
		names: table[names:units], files: table[units:tables], tables: table[tables:entries], entries: table[entries:], count: int(count),
	}, true
}

// all returns each function's entry with its lists.
func (f functions) all() ([][]byte, bool) {
	all := make([][]byte, f.count)
	for i := range all {
		at := uint64(word(f.entries, 8*i+4))
		if at+funcSize > uint64(len(f.entries)) {
			return nil, false
		}
		lists := uint64(word(f.entries[at:], inCount))
		if at+funcSize+4*lists > uint64(len(f.entries)) {
			return nil, false
		}
		all[i] = f.entries[at : at+funcSize+4*lists]
	}
	return all, true
}

// table returns the table at an offset. A table is a list of pairs: by how much the value and the program counter grow. It ends where
// the value does not grow.
func (f functions) table(at uint32) ([]byte, bool) {
	if uint64(at) >= uint64(len(f.tables)) {
		return nil, false
	}
	rest := f.tables[at:]
	for size := 0; ; {
		value, n := binary.Uvarint(rest[size:])
		if n <= 0 {
			return nil, false
		}
		size += n
		if value == 0 && size > n { // the first value may stay what it is
			return rest[:size], true
		}
		_, n = binary.Uvarint(rest[size:])
		if n <= 0 {
			return nil, false
		}
		size += n
	}
}

func word(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
