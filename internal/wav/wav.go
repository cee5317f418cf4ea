// Package wav reads and writes WAV files (RIFF WAVE): PCM of 8 to 32 bits, floating point, and G.711, with any number of channels.
//
// This file has all of the package.
package wav

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// ErrFormat: the data are no WAV file that this package reads. The error that wraps it says why.
var ErrFormat = errors.New("not a WAV file")

// Limits of what a Reader takes from a header.
const (
	MinRate     = 1000    // Hz
	MaxRate     = 384_000 // Hz
	maxChannels = 32
	maxChunk    = 1 << 20 // bytes of a chunk before the sound that is skipped
	maxChunks   = 64
)

// HeaderSize is the length of what Header returns, in bytes.
const HeaderSize = 44

// Unknown is the length of a sound for Header when it is not known yet.
const Unknown = -1

// Header returns the header of a file with 16-bit mono PCM at rate Hz. size is the length of the PCM in bytes, or Unknown.
func Header(rate, size int) []byte {
	all, data := uint32(math.MaxUint32), uint32(math.MaxUint32)
	if size != Unknown {
		all, data = uint32(HeaderSize-8+size), uint32(size)
	}
	le := binary.LittleEndian
	h := le.AppendUint32(append(make([]byte, 0, HeaderSize), "RIFF"...), all)
	h = le.AppendUint32(append(h, "WAVEfmt "...), 16)
	h = append(h, kindPCM, 0, 1, 0) // one channel
	h = le.AppendUint32(h, uint32(rate))
	h = le.AppendUint32(h, uint32(2*rate)) // bytes a second
	h = append(h, 2, 0, 16, 0)             // bytes and bits of a sample
	return le.AppendUint32(append(h, "data"...), data)
}

// Kinds of samples, from the format chunk.
const (
	kindPCM        = 1
	kindFloat      = 3
	kindALaw       = 6
	kindMuLaw      = 7
	kindExtensible = 0xfffe
)

// Reader reads the sound of one file while it arrives. Only one goroutine at a time may use it.
type Reader struct {
	// Rate is the sample rate in Hz, from MinRate to MaxRate.
	Rate int
	// Channels is the number of channels in the file. Read returns their mean.
	Channels int

	in     *bufio.Reader
	sample func(b []byte) float32 // reads one sample
	size   int                    // bytes of one sample of one channel
	left   int64                  // bytes of the sound that are left; negative: until the file ends
	frame  []byte
}

// NewReader reads the header of a file. The error wraps ErrFormat, or is that of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, 16<<10)}
	var head [12]byte
	if err := r.full(head[:]); err != nil {
		return nil, err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, fmt.Errorf("%w: it does not begin with RIFF and WAVE", ErrFormat)
	}
	for range maxChunks {
		var chunk [8]byte
		if err := r.full(chunk[:]); err != nil {
			return nil, err
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch name := string(chunk[:4]); {
		case name == "data" && r.sample == nil:
			return nil, fmt.Errorf("%w: the sound comes before its format", ErrFormat)
		case name == "data":
			r.left = size
			if size == 0 || size >= math.MaxInt32 {
				r.left = -1 // a program that writes to a pipe does not know the length
			}
			r.frame = make([]byte, r.size*r.Channels)
			return r, nil
		case size > maxChunk:
			return nil, fmt.Errorf("%w: a chunk %q of %d bytes comes before the sound", ErrFormat, name, size)
		default:
			body := make([]byte, size+size&1)
			if err := r.full(body); err != nil {
				return nil, err
			}
			if name != "fmt " {
				continue
			}
			if err := r.format(body[:size]); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("%w: it has no sound among its first %d chunks", ErrFormat, maxChunks)
}

// full reads exactly len(b) bytes of the header.
func (r *Reader) full(b []byte) error {
	_, err := io.ReadFull(r.in, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends before its sound", ErrFormat)
	}
	return err
}

// format reads the format chunk.
func (r *Reader) format(b []byte) error {
	if len(b) < 16 {
		return fmt.Errorf("%w: its format has only %d bytes", ErrFormat, len(b))
	}
	le := binary.LittleEndian
	kind, bits := le.Uint16(b), le.Uint16(b[14:])
	r.Channels, r.Rate = int(le.Uint16(b[2:])), int(le.Uint32(b[4:]))
	if kind == kindExtensible && len(b) >= 26 {
		kind = le.Uint16(b[24:])
	}
	r.size = int(bits) / 8
	switch {
	case r.Rate < MinRate || r.Rate > MaxRate:
		return fmt.Errorf("%w: a rate of %d Hz; from %d to %d are possible", ErrFormat, uint32(r.Rate), MinRate, MaxRate)
	case r.Channels < 1 || r.Channels > maxChannels:
		return fmt.Errorf("%w: %d channels; from 1 to %d are possible", ErrFormat, r.Channels, maxChannels)
	}
	if r.sample = decoder(kind, bits); r.sample == nil {
		return fmt.Errorf("%w: samples of kind %d with %d bits; PCM, floating point and G.711 are possible", ErrFormat, kind, bits)
	}
	return nil
}

// decoder returns the function that reads one sample as a value in [-1, 1); nil if there is none.
func decoder(kind, bits uint16) func(b []byte) float32 {
	le := binary.LittleEndian
	var one [1]int16
	switch {
	case kind == kindPCM && bits == 8:
		return func(b []byte) float32 { return float32(int(b[0])-128) / (1 << 7) }
	case kind == kindPCM && bits == 16:
		return func(b []byte) float32 { return float32(int16(le.Uint16(b))) / (1 << 15) }
	case kind == kindPCM && bits == 24:
		return func(b []byte) float32 {
			return float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}
	case kind == kindPCM && bits == 32:
		return func(b []byte) float32 { return float32(int32(le.Uint32(b))) / (1 << 31) }
	case kind == kindFloat && bits == 32:
		return func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) }
	case kind == kindFloat && bits == 64:
		return func(b []byte) float32 { return float32(math.Float64frombits(le.Uint64(b))) }
	case kind == kindALaw && bits == 8:
		return func(b []byte) float32 { return float32(voice.ALawToPCM16(one[:0], b[:1])[0]) / (1 << 15) }
	case kind == kindMuLaw && bits == 8:
		return func(b []byte) float32 { return float32(voice.MuLawToPCM16(one[:0], b[:1])[0]) / (1 << 15) }
	}
	return nil
}

// Read reads the next samples into dst, mono. It returns how many, and io.EOF at the end of the sound. A frame that the file cuts off at its end is left out.
func (r *Reader) Read(dst []int16) (n int, err error) {
	for n < len(dst) {
		if r.left >= 0 && r.left < int64(len(r.frame)) {
			return n, io.EOF
		}
		if _, err := io.ReadFull(r.in, r.frame); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return n, err
		}
		if r.left >= 0 {
			r.left -= int64(len(r.frame))
		}
		var sum float32
		for at := 0; at < len(r.frame); at += r.size {
			sum += r.sample(r.frame[at:])
		}
		voice.FloatToPCM16(dst[n:n], []float32{sum / float32(r.Channels)})
		n++
		if r.in.Buffered() < len(r.frame) {
			break // what has arrived is read: do not wait for more
		}
	}
	return n, nil
}

// ReadAll returns the whole sound of a file, mono, and its rate. It returns an error that wraps ErrTooLong for a sound of more than most samples.
func ReadAll(in io.Reader, most int) (pcm []int16, rate int, err error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, 0, err
	}
	var piece [4096]int16
	for {
		n, err := r.Read(piece[:])
		if pcm = append(pcm, piece[:n]...); len(pcm) > most {
			return nil, 0, fmt.Errorf("%w: more than %d samples", ErrTooLong, most)
		}
		if errors.Is(err, io.EOF) {
			return pcm, r.Rate, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// ErrTooLong: a sound has more samples than ReadAll may return.
var ErrTooLong = errors.New("the sound is too long")
