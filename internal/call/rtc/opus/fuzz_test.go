package opus

// Sequences of packets, gaps and recovered packets. testdata has packets of a person's speech in every mode, by libopus, one of each sequence with a fault.

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzDecoder gives the decoder steps of one byte that says what to do, two that say how long the packet is, and the packet. No packet makes gopus
// panic, and every length of sound is one that the standard knows.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0xF8, 0xFF, 0xFE, 0, 0, 3, 0xFC, 0xFF, 0xFE, 2, 0, 0})
	f.Add([]byte{0, 0, 1, 0x48, 0, 0, 3, 0x03, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, steps []byte) {
		dec, err := NewDecoder()
		if err != nil {
			t.Fatal(err)
		}
		pcm := make([]int16, MaxPacket)
		for n := 0; len(steps) >= 3 && n < 16; n++ {
			do, packet := steps[0], steps[3:]
			packet = packet[:min(len(packet), int(binary.BigEndian.Uint16(steps[1:])))]
			steps = steps[3+len(packet):]
			switch do % 4 {
			case 2:
				err = dec.Conceal(pcm[:FrameSize])
			case 3:
				if dec.Redundant(packet) {
					dec.Recover(packet, pcm[:FrameSize])
				}
			default:
				var n int
				n, err = dec.Decode(packet, pcm)
				if n < 0 || n > MaxPacket || n%(Rate/400) != 0 {
					t.Fatalf("%d samples", n)
				}
			}
			if errors.Is(err, ErrGarbled) {
				t.Fatal(err)
			}
		}
	})
}
