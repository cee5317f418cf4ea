package incoming

// The order in which the jitter buffer releases packets, and how long it waits.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestJitterBuffer(t *testing.T) {
	for _, row := range []struct {
		name string
		seqs []uint16
		want string // sequence numbers in the order of release; (n) before one means that n packets before it are lost
	}{
		{"in order->released as they arrive", []uint16{1, 2, 3}, "1 2 3"},
		{"swapped->put in order", []uint16{1, 3, 2, 4}, "1 2 3 4"},
		{"twice->once", []uint16{1, 2, 2, 4, 4, 3}, "1 2 3 4"},
		{"twice while it waits->once", []uint16{1, 3, 3, 2, 5, 6, 7, 8, 9}, "1 2 3 (1)5 6 7 8 9"},
		{"late by four->still in place", []uint16{1, 3, 4, 5, 6, 2}, "1 2 3 4 5 6"},
		{"missing->given up after five", []uint16{1, 3, 4, 5, 6, 7, 2}, "1 (1)3 4 5 6 7"},
		{"two missing apart->each given up", []uint16{1, 3, 5, 6, 7, 8, 9, 10}, "1 (1)3 (1)5 6 7 8 9 10"},
		{"wraps around", []uint16{65534, 0, 65535, 1}, "65534 65535 0 1"},
		{"leaps->a new stream", []uint16{1, 2, 40000, 40001}, "1 2 40000 40001"},
		{"leaps with a packet held->the held packet first", []uint16{1, 3, 40000}, "1 (1)3 40000"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var r jitterBuffer
			var out []string
			buf := make([]byte, 2) // the same memory for each packet: the buffer must copy
			for _, seq := range row.seqs {
				buf[0], buf[1] = byte(seq>>8), byte(seq)
				r.push(Packet{Seq: seq, Payload: buf, At: time.Unix(0, 0)}, collect(t, &out))
			}
			g.Expect(strings.Join(out, " ")).To(gomega.Equal(row.want))
		})
	}
}

func collect(t *testing.T, out *[]string) func(p Packet, lost int) {
	return func(p Packet, lost int) {
		if got := uint16(p.Payload[0])<<8 | uint16(p.Payload[1]); got != p.Seq {
			t.Errorf("packet %d carries the payload of %d", p.Seq, got)
		}
		text := fmt.Sprint(p.Seq)
		if lost > 0 {
			text = fmt.Sprintf("(%d)%d", lost, p.Seq)
		}
		*out = append(*out, text)
	}
}

func TestJitterBufferWaitsNoLongerThanItSays(t *testing.T) {
	g := gomega.NewWithT(t)
	var r jitterBuffer
	var out []string
	start := time.Unix(0, 0)
	push := func(seq uint16, after time.Duration) {
		r.push(Packet{Seq: seq, Payload: []byte{0, byte(seq)}, At: start.Add(after)}, collect(t, &out))
	}
	push(1, 0)
	_, ok := r.wake()
	g.Expect(ok).To(gomega.BeFalse(), "nothing waits")
	push(4, 10*time.Millisecond)
	push(3, 15*time.Millisecond)
	wake, ok := r.wake()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(wake).To(gomega.Equal(start.Add(10*time.Millisecond + jitterWait)))
	r.expire(wake.Add(-1), collect(t, &out))
	g.Expect(out).To(gomega.Equal([]string{"1"}))
	r.expire(wake, collect(t, &out))
	g.Expect(out).To(gomega.Equal([]string{"1", "(1)3", "4"}))
}
