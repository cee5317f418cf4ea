package config

// The section `voices`: the people who may speak to the model.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/voiceprint"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Voices names the people who may speak to the model.
type Voices struct {
	Ask       string        `yaml:"ask" enum:"every-turn,first-turn" doc:"Which turns are asked about: every one, or those until one is recognised; then the session trusts all that follow. every-turn where it is left out."`
	Threshold float64       `yaml:"threshold" min:"0.3" max:"1" doc:"How similar a turn must be to a person: 1 is the same. 0.7 where it is left out."`
	Deadline  time.Duration `yaml:"deadline" min:"100ms" max:"30s" doc:"How long a verdict may take before the turn is refused; 5s where it is left out."`
	Folder    string        `yaml:"folder" type:"path" doc:"Folder for the prints of people who are enrolled over HTTP (POST /v1/antiphon/voices). Left out: the route enrols nobody."`
	People    []Person      `yaml:"people" doc:"Those who may speak to the model."`
}

// Person is somebody who may speak to the model.
type Person struct {
	Name       string   `yaml:"name" required:"" doc:"Clients see it in antiphon.voice."`
	Recordings []string `yaml:"recordings" type:"path" required:"" doc:"WAV files with this person's voice alone, each with 2 s of speech or more. Three of them are better than one."`
}

// Limits of the section.
const (
	maxRecordings = 20           // of one person
	maxSound      = 300 * 48_000 // samples of a recording: 5 min at 48 kHz
)

// The value of `ask` that asks until one turn is recognised.
const firstTurn = "first-turn"

// GuardVoices gives the pipeline the voice gate that the section `voices` asks for; without that section it does nothing. It reads the recordings and
// makes the prints, which takes about 0.5 s for each. Pipeline calls it. A pipeline that is not of the file needs the call as well: otherwise everybody may
// speak to the model.
func (f *File) GuardVoices(ctx context.Context, p *pipeline.Pipeline) error {
	if f.Voices == nil {
		return nil
	}
	if err := f.Voices.check(); err != nil {
		return fmt.Errorf("%s: voices: %w", f.Path, err)
	}
	v, err := voiceprint.New(voiceprint.Config{Threshold: f.Voices.Threshold})
	if err != nil {
		return fmt.Errorf("%s: voices: %w", f.Path, err)
	}
	for _, person := range f.Voices.People {
		if err := person.enrol(ctx, v); err != nil {
			return fmt.Errorf("%s: voices: %s: %w", f.Path, person.Name, err)
		}
	}
	gate := &pipeline.VoiceGate{Verifier: v, FirstTurn: f.Voices.Ask == firstTurn, Deadline: f.Voices.Deadline}
	if f.Voices.Folder != "" {
		if err := v.KeepIn(f.Voices.Folder); err != nil {
			return fmt.Errorf("%s: voices: folder: %w", f.Path, err)
		}
		gate.Enroller = v
	}
	p.Gate = gate
	return nil
}

// check refuses what the types cannot.
func (v *Voices) check() error {
	if len(v.People) == 0 && v.Folder == "" {
		return errors.New("there are no people: name at least one under people, give a folder for people who are enrolled over HTTP, or take the section out")
	}
	if len(v.People) > voiceprint.MaxPeople {
		return fmt.Errorf("there are %d people: want at most %d", len(v.People), voiceprint.MaxPeople)
	}
	known := map[string]bool{}
	for _, p := range v.People {
		if err := voiceprint.CheckName(p.Name); err != nil {
			return err
		}
		switch {
		case known[p.Name]:
			return fmt.Errorf("%s stands there twice: put all recordings under one name", p.Name)
		case len(p.Recordings) == 0 || len(p.Recordings) > maxRecordings:
			return fmt.Errorf("%s has %d recordings: want 1 to %d", p.Name, len(p.Recordings), maxRecordings)
		}
		known[p.Name] = true
	}
	return nil
}

// enrol lets the person pass.
func (p *Person) enrol(ctx context.Context, v *voiceprint.Verifier) error {
	var all [][]float32
	for _, path := range p.Recordings {
		pcm, err := ReadRecording(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, pcm)
	}
	print, err := v.OfRecordings(ctx, all...)
	if err != nil {
		return err
	}
	return v.Enrol(p.Name, print)
}

// ReadRecording returns the sound of a WAV file of at most 5 minutes, mono at pipeline.InputRate. The error for a file of another kind says how to make a
// WAV file of it.
func ReadRecording(path string) ([]float32, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	pcm, rate, err := wav.ReadAll(file, maxSound)
	if errors.Is(err, wav.ErrFormat) {
		return nil, fmt.Errorf("%w: ffmpeg -i FILE -ar 16000 -ac 1 recording.wav makes a WAV file", err)
	}
	if err != nil {
		return nil, err
	}
	to, err := voice.NewResampler(rate, pipeline.InputRate)
	if err != nil {
		return nil, err
	}
	return to.Flush(to.Append(nil, voice.PCM16ToFloat(nil, pcm))), nil
}
