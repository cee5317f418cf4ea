package backend

// This file writes and reads the frames of the protocol between the server and a back-end process.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// MaxFrame is the largest length of kind and body of a frame, in bytes. 16 s of audio fit into one frame.
const MaxFrame = 1 << 20

// kind is the kind of a frame. The package comment has the order of the frames.
type kind byte

const (
	kindHello         kind = 'H' // engine -> server: Info
	kindConfig        kind = 'C' // server -> engine: Config
	kindReady         kind = 'R' // engine -> server: the utterance is open
	kindUnimplemented kind = 'U' // engine -> server: a text; the server asked for partial results, and the engine has none
	kindAudio         kind = 'A' // server -> engine: mono float32 samples, little endian, 16 kHz
	kindUpdate        kind = 'P' // engine -> server: message
	kindEnd           kind = 'E' // server -> engine: the audio has ended
	kindFinal         kind = 'F' // engine -> server: message
	kindAbandon       kind = 'X' // server -> engine: the server cancels the utterance or the clause
	kindDropped       kind = 'D' // engine -> server: the engine has dropped what the server has cancelled
	kindSpeech        kind = 'S' // server -> engine: Speech; a clause begins
	kindSound         kind = 'O' // engine -> server: mono float32 samples, little endian, at Info.Rate
	kindSpoken        kind = 'Y' // engine -> server: the clause is over
	kindError         kind = 'Z' // engine -> server: a text; the utterance or the clause has failed, the engine still works
)

// message is the JSON of an update or of a result.
type message struct {
	Text        string `json:"text"`
	EOU         bool   `json:"eou,omitempty"`
	Backchannel bool   `json:"eob,omitempty"`
	Words       []Word `json:"words,omitempty"`
	ThroughMS   int64  `json:"through_ms,omitempty"`
}

func (m message) boundary() Boundary {
	switch {
	case m.EOU:
		return EndOfUtterance
	case m.Backchannel:
		return EndOfBackchannel
	}
	return NoBoundary
}

// writeFrame writes one frame with one call of Write.
func writeFrame(w io.Writer, k kind, body []byte) error {
	if len(body)+1 > MaxFrame {
		return fmt.Errorf("%w: %d bytes", ErrFrameTooLarge, len(body)+1)
	}
	frame := make([]byte, 5, 5+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(body)+1))
	frame[4] = byte(k)
	_, err := w.Write(append(frame, body...))
	return err
}

// writeJSON writes one frame whose body is v as JSON.
func writeJSON(w io.Writer, k kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, k, body)
}

// writeAudio writes samples in frames of this kind, with at most slice samples each.
func writeAudio(w io.Writer, k kind, pcm []float32) error {
	for len(pcm) > 0 {
		n := min(len(pcm), slice)
		body := make([]byte, 0, 4*n)
		for _, v := range pcm[:n] {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
		}
		if err := writeFrame(w, k, body); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// readFrame reads one frame. It returns io.EOF if r ends between two frames.
func readFrame(r io.Reader) (kind, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return 0, nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrFrameTooLarge, n, MaxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("%w: cut off: %w", ErrProtocol, err)
	}
	return kind(body[0]), body[1:], nil
}

// samplesOf decodes the body of an audio frame. Samples that are no finite numbers become 0.
func samplesOf(body []byte) ([]float32, error) {
	if len(body)%4 != 0 {
		return nil, fmt.Errorf("%w: %d bytes of audio are no whole samples", ErrProtocol, len(body))
	}
	pcm := make([]float32, len(body)/4)
	for i := range pcm {
		v := math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			v = 0
		}
		pcm[i] = v
	}
	return pcm, nil
}
