package voiceprint

// The verifier: the people who are enrolled, and the comparison of a turn with them.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Config configures a Verifier. The zero value takes what `antiphon models get voice-prints` has fetched.
type Config struct {
	// Models is the folder of the machine's models; "" means models.DefaultDir.
	Models string
	// Threshold is how similar a turn must be to an enrolled person: the inner product of the prints, above 0 and at most 1. 0 means DefaultThreshold.
	Threshold float64
}

const (
	// Install is the command that fetches the weights.
	Install = "antiphon models get voice-prints"
	// DefaultThreshold lets about as many other people pass as it refuses turns of an enrolled person (docs/benchmarks.md).
	DefaultThreshold = 0.7
	// MaxPeople is how many people a Verifier takes.
	MaxPeople = 1000

	purpose     = "voice prints"
	weights     = "resemblyzer.pt"
	ofTurn      = 4                       // spans of 1.6 s of a turn that are compared
	ofRecording = 16                      // the same of a recording
	enough      = 2 * pipeline.InputRate  // samples of a recording
	tooMany     = 60 * pipeline.InputRate // samples of a recording that are used
)

// Errors of enrolment.
var (
	// ErrTooShort: a recording has too little speech.
	ErrTooShort = errors.New("the recording has less than 2 s of speech: record three sentences or more")
	// ErrTooManyPeople: MaxPeople are enrolled.
	ErrTooManyPeople = fmt.Errorf("%d people are enrolled, and no more are possible: remove somebody", MaxPeople)
)

// Verifier is a pipeline.SpeakerVerifier. It is safe for concurrent use. It runs as many prints at a time as there are processors; others wait.
type Verifier struct {
	net       *network
	threshold float64
	running   chan struct{}

	mu     sync.RWMutex
	people map[string]*Print

	folder string     // of the prints that EnrolRecording keeps; "" for none
	keeps  sync.Mutex // one change of the folder at a time
	kept   map[string]bool
}

// New loads the weights. Its error wraps models.ErrNotThere when they are missing.
func New(c Config) (*Verifier, error) {
	store, err := models.Open(c.Models)
	if err != nil {
		return nil, err
	}
	_, folder, ok := store.Find(purpose, "")
	if !ok {
		return nil, fmt.Errorf("voice prints: %w: get it with: %s", models.ErrNotThere, Install)
	}
	net, err := load(filepath.Join(folder, weights))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = errors.Join(models.ErrNotThere, err)
		}
		return nil, fmt.Errorf("voice prints: %w; get the file again with: antiphon models get --again voice-prints", err)
	}
	v := &Verifier{net: net, threshold: c.Threshold, running: make(chan struct{}, runtime.GOMAXPROCS(0)), people: map[string]*Print{}, kept: map[string]bool{}}
	if v.threshold == 0 {
		v.threshold = DefaultThreshold
	}
	return v, nil
}

// Print is the print of a voice: a vector whose length is at most 1.
type Print [size]float32

// Likeness returns how similar two voices are: at most 1, and about 0.5 for two people.
func (p *Print) Likeness(q *Print) float64 { return float64(dot(p[:], q[:])) }

// OfRecordings returns the print of one person. The recordings are of this person alone, mono at pipeline.InputRate; the first minute of each is used,
// and all count the same. The error wraps ErrTooShort, or is that of ctx.
func (v *Verifier) OfRecordings(ctx context.Context, recordings ...[]float32) (*Print, error) {
	var mean Print
	for i, pcm := range recordings {
		heard := speech(pcm[:min(len(pcm), tooMany)])
		p, err := v.print(ctx, heard, ofRecording)
		if err != nil {
			return nil, err
		}
		if len(heard) < enough || p == nil {
			return nil, fmt.Errorf("recording %d: %w", i+1, ErrTooShort)
		}
		for k, x := range p {
			mean[k] += x
		}
	}
	if len(recordings) == 0 {
		return nil, fmt.Errorf("no recording: %w", ErrTooShort)
	}
	unit(mean[:])
	return &mean, nil
}

// OfTurn returns the print of a turn, mono at pipeline.InputRate; nil for less than 0.8 s of speech. The error is that of ctx.
func (v *Verifier) OfTurn(ctx context.Context, pcm []float32) (*Print, error) {
	return v.print(ctx, pcm, ofTurn)
}

// Enrol lets the person with that name and print pass. It replaces a person of that name. The only error is ErrTooManyPeople.
func (v *Verifier) Enrol(name string, p *Print) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.people[name]; !known && len(v.people) >= MaxPeople {
		return ErrTooManyPeople
	}
	v.people[name] = p
	return nil
}

// People returns the names of those who are enrolled, in alphabetic order.
func (v *Verifier) People() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Sorted(maps.Keys(v.people))
}

// Verify implements pipeline.SpeakerVerifier. A turn with less than 0.8 s of speech is refused.
func (v *Verifier) Verify(ctx context.Context, pcm []float32) (pipeline.SpeakerVerdict, error) {
	p, err := v.OfTurn(ctx, pcm)
	if err != nil || p == nil {
		return pipeline.SpeakerVerdict{}, err
	}
	name, highest := "", v.threshold
	v.mu.RLock()
	defer v.mu.RUnlock()
	for who, known := range v.people {
		if l := known.Likeness(p); l >= highest {
			name, highest = who, l
		}
	}
	return pipeline.SpeakerVerdict{Authorised: name != "", Speaker: name}, nil
}

// print returns the print of pcm, when a processor is free; nil for too little speech.
func (v *Verifier) print(ctx context.Context, pcm []float32, most int) (*Print, error) {
	select {
	case v.running <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.running }()
	return v.net.print(ctx, pcm, most)
}
