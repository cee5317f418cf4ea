// Package flite is a synthesizer that runs the program Flite, which Linux distributions have as a package. Each utterance is one
// short run of the program, so a crash costs at most one clause.
package flite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/antiphon-rt/antiphon/internal/engine/confine"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Install is the command that installs the program on Debian.
const Install = "sudo apt-get install flite"

// Limits of one utterance.
const (
	maxText   = 2000             // bytes
	maxAudio  = 64 << 20         // bytes of the sound that the program writes
	maxMemory = 512 << 20        // the memory of one run, in bytes
	maxTime   = 20 * time.Second // the time of one run; a clause takes about 50 ms
)

// Options configure a Synthesizer.
type Options struct {
	// Path is the path of the program; "" searches the PATH for flite.
	Path string
}

// Synthesizer is a pipeline.Synthesizer. It is safe for concurrent use. It runs at most one program for each processor at a time.
type Synthesizer struct {
	path    string
	running *semaphore.Weighted
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelFunc
}

// New returns a Synthesizer. A missing program is no error of New: Check and Synthesize return an error until it is installed.
func New(o Options) *Synthesizer {
	if o.Path == "" {
		o.Path = "flite"
	}
	s := &Synthesizer{path: o.Path, running: semaphore.NewWeighted(int64(runtime.NumCPU()))}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Check returns nil if the program is installed, and otherwise an error that wraps pipeline.ErrUnavailable.
func (s *Synthesizer) Check() error {
	if _, err := exec.LookPath(s.path); err != nil {
		return &pipeline.StageError{
			Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w: flite is not installed", pipeline.ErrUnavailable), Hint: Install,
		}
	}
	return nil
}

// voices maps names of voices, the protocol's and Flite's own, to the voice of Flite that speaks. All of these have 16 kHz.
func voices() map[string]string {
	return map[string]string{
		"": "slt", "alloy": "slt", "ash": "rms", "ballad": "awb", "cedar": "rms", "coral": "slt", "echo": "rms", "marin": "slt",
		"sage": "slt", "shimmer": "slt", "verse": "awb",
		"awb": "awb", "kal16": "kal16", "rms": "rms", "slt": "slt",
	}
}

// Voices returns the names that Synthesize accepts, in alphabetical order.
func Voices() []string {
	names := slices.Sorted(maps.Keys(voices()))
	return names[1:] // the first one is the empty name
}

// CheckVoice implements pipeline.VoiceChecker.
func (s *Synthesizer) CheckVoice(name string) error {
	if _, ok := voices()[name]; !ok {
		return fail(fmt.Errorf("%w %q", pipeline.ErrUnknownVoice, name), "there are "+strings.Join(Voices(), ", "))
	}
	return nil
}

// Close ends the runs of the program. Later calls of Synthesize return an error.
func (s *Synthesizer) Close() error {
	s.end()
	return nil
}

func (s *Synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := s.CheckVoice(u.Voice); err != nil {
		return err
	}
	name := voices()[u.Voice]
	if len(u.Text) > maxText {
		return fail(fmt.Errorf("%w: %d bytes, the limit is %d", pipeline.ErrTooLong, len(u.Text), maxText), "cut it into clauses")
	}
	u.Text = plain(u.Text)
	if !strings.ContainsFunc(u.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	if err := s.running.Acquire(ctx, 1); err != nil {
		return err
	}
	sound, err := s.run(ctx, name, u)
	s.running.Release(1)
	if err != nil {
		return err
	}
	pcm, rate, err := wav.ReadAll(bytes.NewReader(sound), maxAudio)
	if err != nil {
		return fail(fmt.Errorf("flite: %w", err), "")
	}
	return give(ctx, pcm, rate, emit)
}

// plain returns the text without characters that are not spoken: control characters, and marks of emphasis and code at words.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	var words []string
	for i, f := range strings.Fields(text) {
		word := strings.Trim(f, "*_`#~")
		if f == "*" && i > 0 {
			word = "times"
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// run runs the program once and returns its output.
func (s *Synthesizer) run(ctx context.Context, name string, u pipeline.Utterance) ([]byte, error) {
	speed := u.Speed
	if speed == 0 {
		speed = 1
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	stretch := strconv.FormatFloat(1/min(max(speed, 0.25), 4), 'f', 3, 64)
	file, path, err := soundFile()
	if err != nil {
		return nil, fail(fmt.Errorf("a file for flite's sound: %w", err), "")
	}
	defer file.close()
	// The text goes to the standard input: everybody on the machine can read the arguments of a process.
	cmd := exec.CommandContext(limited, s.path, "-voice", name, "--setf", "duration_stretch="+stretch, "-f", "-", "-o", path)
	cmd.Stdin, cmd.ExtraFiles, cmd.Env = strings.NewReader(u.Text), file.inherited(), confine.Environment()
	var complaint limitedBuffer
	complaint.limit = 4096
	cmd.Stdout, cmd.Stderr = &complaint, &complaint
	cmd.WaitDelay = time.Second
	err = confine.Run(cmd, confine.Limits{Memory: maxMemory, CPU: maxTime, File: maxAudio})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fail(fmt.Errorf("flite took more than %s", maxTime), "")
	case err != nil:
		return nil, fail(fmt.Errorf("flite: %w: %s", err, strings.TrimSpace(complaint.String())), "")
	}
	return file.read()
}

func fail(err error, hint string) error {
	return &pipeline.StageError{Stage: pipeline.StageSynthesizer, Err: err, Hint: hint}
}

var errLimit = errors.New("more output than a clause can have")

// limitedBuffer is a buffer whose Write fails beyond its limit.
type limitedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errLimit
	}
	return b.Buffer.Write(p)
}

// give resamples the audio and emits it in chunks. The first chunk is short.
func give(ctx context.Context, pcm []int16, rate int, emit func([]int16) error) error {
	up, err := voice.NewResampler(rate, pipeline.OutputRate)
	if err != nil {
		return fail(err, "")
	}
	pcm = up.FlushPCM16(up.AppendPCM16(nil, pcm))
	for n := pipeline.MaxChunk / 5; len(pcm) > 0; n = pipeline.MaxChunk {
		n = min(n, len(pcm))
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(pcm[:n]); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}
