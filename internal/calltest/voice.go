package calltest

// The user's voice: what the microphone of a call gets.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

// microphone records what it sends, and has the line of the call.
type microphone struct {
	native.Microphone
	line *badLine

	mu       sync.Mutex
	began    time.Time
	recorded []int16
}

// Frame implements native.Source.
func (m *microphone) Frame(pcm []int16) {
	m.Microphone.Frame(pcm)
	m.line.frame(pcm)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.began.IsZero() {
		m.began = time.Now()
	}
	if len(m.recorded) < int(maxRecord.Seconds())*native.Rate {
		m.recorded = append(m.recorded, pcm...)
	}
}

// Packet has package native send a packet of this microphone as the line wants it.
func (m *microphone) Packet(send func()) { m.line.packet(send) }

// sounds returns the sound of each step that has one, and the level of the speech in them.
func (t *Target) sounds(ctx context.Context, f *File) (of [][]int16, level float64, err error) {
	t.chooseVoice(ctx)
	of = make([][]int16, len(f.Steps))
	var power float64
	frames := 0
	for i := range f.Steps {
		s := &f.Steps[i]
		if of[i], err = t.sound(ctx, s); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", f.Path, s.line, err)
		}
		for rest := of[i]; len(rest) >= native.FrameSize; rest = rest[native.FrameSize:] {
			if one := meanSquare(rest[:native.FrameSize]); 10*math.Log10(one) > native.Audible {
				power += one
				frames++
			}
		}
	}
	if frames == 0 {
		return of, speechLevel, nil
	}
	return of, 10 * math.Log10(power/float64(frames)), nil
}

// meanSquare returns the power of samples: 1 is that of full scale.
func meanSquare(pcm []int16) (sum float64) {
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(pcm)) / (1 << 30)
}

// chooseVoice takes the voice that the scripted recogniser understands, where the server's synthesizer is the scripted one.
func (t *Target) chooseVoice(ctx context.Context) {
	if len(t.spoken) > 0 || t.Voice != "" {
		return
	}
	p, err := native.NewSocketDialer(native.Options{URL: t.URL, Key: t.Key, Client: t.Client}).Pipeline(ctx)
	if err != nil {
		return // it is no Antiphon
	}
	for _, c := range p.Components {
		if c.Stage == "synthesizer" && c.Name == "scripted" {
			t.Voice = "user"
		}
	}
}

func (t *Target) sound(ctx context.Context, s *Step) ([]int16, error) {
	if s.kind == "play" {
		return readWAV(s.Play)
	}
	var all []int16
	for i, text := range s.Say {
		pcm, err := t.speak(ctx, text)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, make([]int16, int(cmp.Or(s.Pause, time.Second)*native.Rate/time.Second))...)
		}
		all = append(all, pcm...)
	}
	return all, nil
}

// speak returns what the server's synthesizer says for a text, at native.Rate.
func (t *Target) speak(ctx context.Context, text string) ([]int16, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if pcm, is := t.spoken[text]; is {
		return pcm, nil
	}
	ctx, cancel := context.WithTimeout(ctx, speechTime)
	defer cancel()
	fields := map[string]string{"model": "tts-1", "input": text, "response_format": "wav", "voice": t.Voice}
	if t.Voice == "" {
		delete(fields, "voice")
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.URL, "/")+"/v1/audio/speech", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if t.Key != "" {
		r.Header.Set("Authorization", "Bearer "+t.Key)
	}
	answer, err := cmp.Or(t.Client, http.DefaultClient).Do(r)
	if err != nil {
		return nil, fmt.Errorf("the user's voice: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	sound, err := io.ReadAll(io.LimitReader(answer.Body, maxSpeech))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", answer.Status, sound)
	}
	var pcm []int16
	if err == nil {
		pcm, err = native.ReadWAV(bytes.NewReader(sound))
	}
	if err != nil {
		return nil, fmt.Errorf("the user's voice, from /v1/audio/speech of the server: %w; use play with a WAV file on a server without it", err)
	}
	if t.spoken == nil {
		t.spoken = map[string][]int16{}
	}
	t.spoken[text] = pcm
	return pcm, nil
}

func readWAV(path string) ([]int16, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	pcm, err := native.ReadWAV(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pcm, nil
}
