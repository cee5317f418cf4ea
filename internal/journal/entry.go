package journal

// The entries of a call's log: records as bytes, in as many entries as they need.

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// Each entry has a header: flags, the owner's epoch, the revision at which the newest whole State begins (0 if this entry begins it, or if there is
// none), the number of the owner's newest record that is complete with this entry, and the owner's Config.Node with its length before it.
const (
	headerSize = 1 + 4 + 8 + 8 + 1 // without the Node
	maxNode    = 64
	// maxPiece is the size of the largest piece of records in one entry. A value of the store has at most 900 KiB.
	maxPiece = 800 << 10
)

// version is the version of the entries that this program writes: the upper four bits of the flags. It reads this version and the one before. It changes when a
// program of the version before would misread an entry: a new field of a Record does not change it, because such a program ignores the field.
const version = 1

const (
	flagFirst byte = 1 << iota // the first piece
	flagLast                   // the last piece
	flagWhole                  // the records begin with a State
	flagEnd                    // the call has ended in order
)

// entry is one entry of a log.
type entry struct {
	flags  byte
	epoch  uint32
	whole  uint64 // the revision at which the newest State begins that is stored completely
	newest uint64 // the number of the owner's newest record that is complete; 0 for none
	node   string // the owner's Config.Node
	piece  []byte
}

func (e entry) first() bool { return e.flags&flagFirst != 0 }
func (e entry) last() bool  { return e.flags&flagLast != 0 }

// append returns the bytes of an entry.
func (e entry) bytes() []byte {
	node := e.node[:min(len(e.node), maxNode)]
	b := make([]byte, 0, headerSize+len(node)+len(e.piece))
	b = append(b, version<<4|e.flags)
	b = binary.BigEndian.AppendUint32(b, e.epoch)
	b = binary.BigEndian.AppendUint64(b, e.whole)
	b = binary.BigEndian.AppendUint64(b, e.newest)
	b = append(append(b, byte(len(node))), node...)
	return append(b, e.piece...)
}

// ErrDamaged: an entry cannot be read. It was damaged, or another version of this program has written it.
var ErrDamaged = errors.New("an entry of the call's journal cannot be read: it is damaged, or of another version of this program")

// readEntry reads the bytes of an entry.
func readEntry(b []byte) (entry, error) {
	if len(b) < headerSize || len(b) < headerSize+int(b[headerSize-1]) {
		return entry{}, fmt.Errorf("%w: it has %d bytes", ErrDamaged, len(b))
	}
	if v := b[0] >> 4; v > version {
		return entry{}, fmt.Errorf("%w: it has version %d, and this program reads %d and %d", ErrDamaged, v, version-1, version)
	}
	begins := headerSize + int(b[headerSize-1])
	return entry{
		flags: b[0] & 0xf, epoch: binary.BigEndian.Uint32(b[1:]), whole: binary.BigEndian.Uint64(b[5:]), newest: binary.BigEndian.Uint64(b[13:]),
		node: string(b[headerSize:begins]), piece: b[begins:],
	}, nil
}

// pieces returns the entries of records. whole is the revision at which the newest stored State begins.
func pieces(records []Record, epoch uint32, whole uint64) ([]entry, error) {
	text, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("the journal of a call cannot be written: %w", err)
	}
	var out []entry
	for {
		n := min(len(text), maxPiece)
		e := entry{epoch: epoch, whole: whole, piece: text[:n]}
		if len(out) == 0 {
			e.flags |= flagFirst
		}
		if records[0].State != nil {
			e.flags |= flagWhole
		}
		if records[len(records)-1].Ended {
			e.flags |= flagEnd
		}
		if text = text[n:]; len(text) == 0 {
			e.flags |= flagLast
			return append(out, e), nil
		}
		out = append(out, e)
	}
}

// reader puts the records of a call together from its entries.
type reader struct {
	state State
	text  []byte
	open  bool // the first piece was read, and the last one was not
}

// take reads the next entry. Records of which a piece is missing are ignored: their writer has ended, or has begun again.
func (r *reader) take(e entry) error {
	if e.first() {
		r.text, r.open = nil, true
	}
	if !r.open {
		return nil
	}
	r.text = append(r.text, e.piece...)
	if !e.last() {
		return nil
	}
	r.open = false
	var records []Record
	if err := json.Unmarshal(r.text, &records); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, one := range records {
		r.state.Apply(one)
	}
	return nil
}
