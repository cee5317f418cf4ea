package noisebench

// This file has the conditions under which a person calls: the room, the microphone and the network.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

// musicFolder has Debian's music for telephone systems (asterisk-moh-opsound-g722).
const musicFolder = "/usr/share/asterisk/moh"

// condition changes the sound of a call, or has a network or a turn detection of its own.
type condition struct {
	name  string
	link  rig.Link
	turns *sdk.TurnDetection // nil: server_vad
	late  bool               // the server does not answer ahead
	// change changes the sound of the microphone, mono at human.Rate; nil leaves it.
	change func(x []float32, others []human.Sentence, random *rand.Rand) error
}

// conditions returns what the part calls measures, but for musical.
func conditions() []condition {
	semantic := &sdk.TurnDetection{Semantic: true}
	all := []condition{
		{name: "quiet room"},
		{name: "quiet room, not answering ahead", late: true},
		{name: "quiet room, semantic_vad", turns: semantic},
		{name: "quiet room, semantic_vad, not answering ahead", turns: semantic, late: true},
	}
	for _, ratio := range []float64{20, 10, 5} {
		all = append(all, condition{name: fmt.Sprintf("fan, %v dB", ratio), change: beside(ratio, func(n int, _ []human.Sentence, random *rand.Rand) ([]float32, error) {
			return fan(n, random), nil
		})})
	}
	return append(all,
		condition{name: "8 people, 15 dB", change: beside(15, func(n int, others []human.Sentence, random *rand.Rand) ([]float32, error) {
			return talk(others, 8, n, random), nil
		})},
		condition{name: "mains hum, 10 dB", change: beside(10, func(n int, _ []human.Sentence, _ *rand.Rand) ([]float32, error) { return mains(n), nil })},
		condition{name: "softly: 20 dB below", change: louder(-20)},
		condition{name: "shouting: 14 dB above", change: louder(14)},
		condition{name: "clipped at a fifth of the peaks", change: clipped},
		condition{name: "5 % loss, 100 ms of jitter", link: rig.Link{RTT: 40 * time.Millisecond, Jitter: 100 * time.Millisecond, Loss: 0.05, Seed: 1}},
		condition{name: "10 % loss, 100 ms of jitter", link: rig.Link{RTT: 40 * time.Millisecond, Jitter: 100 * time.Millisecond, Loss: 0.1, Seed: 1}},
	)
}

// musical returns the conditions that need the package with music.
func musical() []condition {
	return []condition{{name: "music, 15 dB", change: beside(15, music)}, {name: "music, 10 dB", change: beside(10, music)}}
}

// beside adds a sound whose level is ratio dB below that of the speech.
func beside(ratio float64, sound func(n int, others []human.Sentence, random *rand.Rand) ([]float32, error)) func([]float32, []human.Sentence, *rand.Rand) error {
	return func(x []float32, others []human.Sentence, random *rand.Rand) error {
		y, err := sound(len(x), others, random)
		if err == nil {
			add(x, y, gainOf(-ratio))
		}
		return err
	}
}

// louder changes the level by so many dB. What is above full scale is clipped, as in a sound card.
func louder(db float64) func([]float32, []human.Sentence, *rand.Rand) error {
	return func(x []float32, _ []human.Sentence, _ *rand.Rand) error {
		for i := range x {
			x[i] = min(max(x[i]*gainOf(db), -1), 1)
		}
		return nil
	}
}

// clipped cuts all peaks at a fifth of the highest.
func clipped(x []float32, _ []human.Sentence, _ *rand.Rand) error {
	var peak float32
	for _, v := range x {
		peak = max(peak, max(v, -v))
	}
	for i, v := range x {
		x[i] = min(max(v, -peak/5), peak/5)
	}
	return nil
}

// mains returns n samples of a hum of 50 Hz with its overtones.
func mains(n int) []float32 {
	x := make([]float32, n)
	for overtone := 1; overtone <= 8; overtone++ {
		for i := range x {
			x[i] += float32(math.Sin(2*math.Pi*50*float64(overtone*i)/human.Rate+float64(overtone)) / float64(overtone))
		}
	}
	return leveled(x)
}

// music returns n samples of the first songs of musicFolder.
func music(n int, _ []human.Sentence, _ *rand.Rand) ([]float32, error) {
	songs, err := filepath.Glob(musicFolder + "/*.g722")
	if err != nil || len(songs) == 0 {
		return nil, fmt.Errorf("no music: install asterisk-moh-opsound-g722: %w", os.ErrNotExist)
	}
	var x []float32
	for at := 0; len(x) < n; at++ {
		pcm, err := human.Recording(songs[at%len(songs)])
		if err != nil {
			return nil, err
		}
		x = append(x, voice.PCM16ToFloat(nil, pcm[:min(len(pcm), 60*human.Rate)])...)
	}
	return leveled(x[:n]), nil
}
