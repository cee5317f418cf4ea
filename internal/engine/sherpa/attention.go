package sherpa

// This file makes the decoder of a Moonshine model tell what it attends to. The model computes that and keeps it to itself: its file is a flatbuffer (ORT
// format: onnxruntime/core/flatbuffers/schema/ort.fbs) which lists the outputs of each graph by name, so the file is given other names there.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// The places of fields in the tables of ort.fbs.
const (
	sessionModel    = 1
	modelGraph      = 7
	graphNodes      = 2
	graphOutputs    = 6
	nodeOperator    = 5
	nodeAttributes  = 10
	attributeName   = 0
	attributeGraph  = 7
	uncachedBranch  = "else_branch" // of the node If: the branch that decodes without the results of the token before
	unusedOutput    = "present.%d.encoder.key"
	attentionOutput = "/model/decoder/layers.%d/encoder_attn/Softmax_output_0"
)

var errAttention = errors.New("the decoder has another form than Moonshine's")

// flat is a flatbuffer. A read outside of it gives 0.
type flat []byte

func (f flat) word(at int) int {
	if at < 0 || at+4 > len(f) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f[at:]))
}

// field returns where a table has a field; 0 if it has none.
func (f flat) field(table, n int) int {
	vtable := table - int(int32(f.word(table)))
	at := vtable + 4 + 2*n
	if vtable < 0 || at+2 > len(f) || 4+2*n >= f.word(vtable)&0xffff {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(f[at:])); offset != 0 {
		return table + offset
	}
	return 0
}

// at returns where the reference at a place leads; 0 for none.
func (f flat) at(place int) int {
	if place == 0 {
		return 0
	}
	return place + f.word(place)
}

// list returns the places of the references in a list of a table.
func (f flat) list(table, n int) (places []int) {
	at := f.at(f.field(table, n))
	for i := range f.word(at) {
		if p := at + 4 + 4*i; at > 0 && p+4 <= len(f) {
			places = append(places, p)
			continue
		}
		break
	}
	return places
}

func (f flat) text(at int) string {
	n := f.word(at)
	if at == 0 || at+4+n > len(f) {
		return ""
	}
	return string(f[at+4 : at+4+n])
}

// attending returns the file of a decoder whose outputs present.N.encoder.key are what the layers attend to. It changes file.
func attending(file []byte, layers []int) ([]byte, error) {
	f := flat(file)
	outputs := f.uncached()
	for _, layer := range layers {
		name := fmt.Sprintf(attentionOutput, layer)
		if !strings.Contains(string(file), name) {
			return nil, fmt.Errorf("%w: there is no %s", errAttention, name)
		}
		found := false
		for _, place := range outputs {
			if f.text(f.at(place)) != fmt.Sprintf(unusedOutput, layer) {
				continue
			}
			found = true
			for len(f)%4 != 0 {
				f = append(f, 0)
			}
			binary.LittleEndian.PutUint32(f[place:], uint32(len(f)-place))
			f = append(binary.LittleEndian.AppendUint32(f, uint32(len(name))), name...)
			f = append(f, 0)
		}
		if !found {
			return nil, fmt.Errorf("%w: there is no output for layer %d", errAttention, layer)
		}
	}
	return f, nil
}

// uncached returns the places of the names of the outputs of the branch that decodes without a cache.
func (f flat) uncached() []int {
	graph := f.at(f.field(f.at(f.field(f.word(0), sessionModel)), modelGraph))
	for _, n := range f.list(graph, graphNodes) {
		node := f.at(n)
		if f.text(f.at(f.field(node, nodeOperator))) != "If" {
			continue
		}
		for _, a := range f.list(node, nodeAttributes) {
			if attribute := f.at(a); f.text(f.at(f.field(attribute, attributeName))) == uncachedBranch {
				return f.list(f.at(f.field(attribute, attributeGraph)), graphOutputs)
			}
		}
	}
	return nil
}
