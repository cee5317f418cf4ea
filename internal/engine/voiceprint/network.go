package voiceprint

// The network: three layers with memory (LSTM) and a linear one. They turn 1.6 s of speech into a print of 256 numbers. The layout is that of
// Resemblyzer's VoiceEncoder, which follows "Generalized End-to-End Loss for Speaker Verification" (Wan and others, 2018).

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

const (
	size   = 256 // numbers of a print, and cells of a layer
	layers = 3
	span   = 160 // spectra that the network gets at once: 1.6 s
	least  = 80  // spectra of the shortest speech that has a print: 0.8 s
)

// Where the weights are in Resemblyzer's file (package 0.1.4, whose checksum the catalogue of models has), in bytes.
const (
	fileSize   = 17090379
	biasAt     = 6699   // 256 numbers
	linearAt   = 7731   // 256 rows of 256
	lstmAt     = 269883 // all weights of the three layers, one after the other; then the biases
	lstmBiases = 1351680
)

// network has the weights. Nobody changes them.
type network struct {
	layer  [layers]layer
	linear [size][]float32
	bias   []float32
}

// layer has the weights of one LSTM: four gates of 256 cells each (input, forget, cell, output). A row has the weights of the layer's input, and then
// those of the layer's own last result.
type layer struct {
	rows [4 * size][]float32
	bias [4 * size]float32
}

func load(path string) (*network, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, fileSize+1))
	if err != nil {
		return nil, err
	}
	if len(b) != fileSize {
		return nil, fmt.Errorf("%s is not the file of Resemblyzer 0.1.4: it has %d bytes or more, and that file has %d", path, len(b), fileSize)
	}
	read := func(at, n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[at+4*i:]))
		}
		return out
	}
	n := &network{bias: read(biasAt, size)}
	for i := range n.linear {
		n.linear[i] = read(linearAt+4*i*size, size)
	}
	at := lstmAt
	for l := range n.layer {
		for _, wide := range []int{inputs(l), size} {
			for i := range n.layer[l].rows {
				n.layer[l].rows[i] = append(n.layer[l].rows[i], read(at, wide)...)
				at += 4 * wide
			}
		}
	}
	at = lstmAt + 4*lstmBiases
	for l := range n.layer {
		for range 2 { // the file has two biases of each gate
			for i, v := range read(at, 4*size) {
				n.layer[l].bias[i] += v
			}
			at += 4 * 4 * size
		}
	}
	return n, nil
}

func inputs(l int) int {
	if l == 0 {
		return bands
	}
	return size
}

// print returns the print of an utterance, mono at 16 kHz: the mean of the prints of at most that many spans of 1.6 s, which are spread over the
// utterance; nil if there is less than 0.8 s of speech. The mean is not made longer, so that a print of many spans is not more like each other one than a
// print of a single span. It ends early when ctx ends.
func (n *network) print(ctx context.Context, pcm []float32, most int) (*Print, error) {
	all := spectra(speech(pcm))
	if len(all) < least {
		return nil, nil
	}
	var p Print
	count := min(most, max(1, (len(all)+span/4)/span))
	for i := range count {
		from := 0
		if count > 1 {
			from = i * max(0, len(all)-span) / (count - 1)
		}
		part, err := n.span(ctx, all[from:min(len(all), from+span)])
		if err != nil {
			return nil, err
		}
		for k, v := range part {
			p[k] += v / float32(count)
		}
	}
	return &p, nil
}

// span returns the print of one span. It ends early when ctx ends.
func (n *network) span(ctx context.Context, rows [][bands]float32) (*Print, error) {
	var in [layers][2 * size]float32 // what a layer gets: its input, and its own last result
	var cell [layers][size]float32
	var gates [4 * size]float32
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		copy(in[0][:], row[:])
		for l := range n.layer {
			w, wide := &n.layer[l], inputs(l)
			for i := range gates {
				gates[i] = w.bias[i] + dot(w.rows[i], in[l][:wide+size])
			}
			out := in[l][wide : wide+size]
			for i := range size {
				cell[l][i] = sigmoid(gates[size+i])*cell[l][i] + sigmoid(gates[i])*tanh(gates[2*size+i])
				out[i] = sigmoid(gates[3*size+i]) * tanh(cell[l][i])
			}
			if l+1 < layers {
				copy(in[l+1][:], out)
			}
		}
	}
	var p Print
	last := in[layers-1][size:]
	for i := range p {
		p[i] = max(0, n.bias[i]+dot(n.linear[i], last))
	}
	unit(p[:])
	return &p, nil
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
func tanh(x float32) float32    { return float32(math.Tanh(float64(x))) }

// unit gives p the length 1. A p of zeros stays as it is.
func unit(p []float32) {
	length := float32(math.Sqrt(float64(dot(p, p))))
	if length == 0 {
		return
	}
	for i := range p {
		p[i] /= length
	}
}

// dot returns the inner product of x and the first len(x) values of y.
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		p, q := (*[4]float32)(x[i:]), (*[4]float32)(y[i:]) // one check of bounds each
		a += p[0] * q[0]
		b += p[1] * q[1]
		c += p[2] * q[2]
		d += p[3] * q[3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}
