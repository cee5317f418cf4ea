package session

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// digest hashes the edges of an exploration in their order, which the domain gives. Each state, event and effect is
// written out once and then known by its own hash.
type digest struct {
	sum    hash.Hash64
	values map[machine.Named]uint64
	states map[State]uint64
}

func newDigest() *digest {
	return &digest{fnv.New64a(), map[machine.Named]uint64{}, map[State]uint64{}}
}

func (p *digest) edge(e Edge) {
	p.add(p.state(e.From), p.value(e.Event), p.state(e.To), uint64(len(e.Effects)))
	for _, f := range e.Effects {
		p.add(p.value(f))
	}
}

func (p *digest) add(sums ...uint64) {
	var b [8]byte
	for _, s := range sums {
		binary.LittleEndian.PutUint64(b[:], s)
		_, _ = p.sum.Write(b[:]) // a hash takes everything
	}
}

func (p *digest) value(v machine.Named) uint64 {
	sum, known := p.values[v]
	if !known {
		if e, is := v.(Event); is {
			sum = textSum(eventText(e))
		} else {
			sum = textSum(coordtest.Text(v))
		}
		p.values[v] = sum
	}
	return sum
}

func (p *digest) state(s State) uint64 {
	sum, known := p.states[s]
	if !known {
		sum = textSum(text(s))
		p.states[s] = sum
	}
	return sum
}

// text is a whole state in words.
func text(s State) string {
	var b strings.Builder
	for _, part := range []machine.Named{s.Conn, s.Turn, s.Response, s.Playout, s.Synthesis, s.Live, s.Final, s.Older} {
		b.WriteString(coordtest.Text(part) + "|")
	}
	_, _ = fmt.Fprint(&b, s.Config, s.Waiting, s.Texted, s.Begun, s.Queued, s.Owed, s.LastTurn, s.LastResponse)
	return b.String()
}

func textSum(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}
