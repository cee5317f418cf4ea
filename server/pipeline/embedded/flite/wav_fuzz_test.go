package flite

// A fuzz test of the reader of flite's output.

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzDecode: whatever a speaking program writes, it is sound with a rate, or no WAV file.
func FuzzDecode(f *testing.F) {
	file := func(format, channels, rate, bits int, pcm []byte) []byte {
		out := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), 16, 0, 0, 0)
		out = binary.LittleEndian.AppendUint16(out, uint16(format))
		out = binary.LittleEndian.AppendUint16(out, uint16(channels))
		out = binary.LittleEndian.AppendUint32(out, uint32(rate))
		out = append(out, 0, 0, 0, 0, 0, 0)
		out = binary.LittleEndian.AppendUint16(out, uint16(bits))
		out = append(out, "data\xff\xff\xff\xff"...)
		return append(out, pcm...)
	}
	f.Add(file(1, 1, 16000, 16, []byte{1, 0, 2, 0}))
	f.Add(file(1, 1, 8000, 16, []byte{1}))
	f.Add(file(3, 2, 0, 32, nil))
	f.Fuzz(func(t *testing.T, wav []byte) {
		pcm, rate, err := decode(wav)
		switch {
		case err != nil && !errors.Is(err, errWAV):
			t.Fatal(err)
		case err == nil && rate <= 0:
			t.Fatalf("%d samples a second", rate)
		case 2*len(pcm) > len(wav):
			t.Fatalf("%d samples of %d bytes", len(pcm), len(wav))
		}
	})
}
