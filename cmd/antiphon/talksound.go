package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/sdk/native/desktop"
)

// sounds are where the call's sound comes from and where it goes to. A nil source or sink is none.
type sounds struct {
	source native.Source
	sink   native.Sink
	device bool // the source is the desktop's microphone, which has no end

	file   []int16 // to be said
	mouth  *native.Microphone
	ear    *native.Speaker
	record string // the file for what ear hears
	closes []func() error
}

// maxRecording bounds what is kept of the agent's sound for a file.
const maxRecording = 30 * time.Minute

// openSound opens what was asked for. A desktop without sound is no error: what is missing is said to note, and writing works.
func (t *talk) openSound(note io.Writer) (*sounds, error) {
	s := &sounds{}
	if t.Text {
		return s, nil
	}
	if err := errors.Join(s.openMicrophone(t.Microphone, note), s.openSpeaker(t.Speaker, note)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// named tells whether what was asked for is a device, and which.
func named(asked string) (name string, device bool) {
	if asked == "device" {
		return "", true
	}
	return strings.CutPrefix(asked, "device:")
}

func (s *sounds) openMicrophone(asked string, note io.Writer) error {
	name, device := named(asked)
	switch {
	case asked == "none":
		return nil
	case device:
		m, err := desktop.OpenMicrophone(name)
		if err != nil {
			fmt.Fprintln(note, "antiphon: no microphone, so type:", err)
			return nil
		}
		s.source, s.device = m, true
		s.closes = append(s.closes, m.Close)
		return nil
	}
	f, err := os.Open(asked)
	if err != nil {
		return fmt.Errorf("the file to say: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	if s.file, err = native.ReadWAV(f); err != nil {
		return fmt.Errorf("the file to say, %s: %w", asked, err)
	}
	s.mouth = &native.Microphone{}
	s.source = s.mouth
	return nil
}

func (s *sounds) openSpeaker(asked string, note io.Writer) error {
	name, device := named(asked)
	switch {
	case asked == "none":
	case device:
		p, err := desktop.OpenSpeaker(name)
		if err != nil {
			fmt.Fprintln(note, "antiphon: no loudspeaker, so read:", err)
			return nil
		}
		s.sink = p
		s.closes = append(s.closes, p.Close)
	default:
		f, err := os.Create(asked) // said now, and not after the call, when it cannot be written
		if err != nil {
			return fmt.Errorf("the file for the agent's voice: %w", err)
		}
		s.ear, s.record = native.NewSpeaker(maxRecording), asked
		s.sink = s.ear
		s.closes = append(s.closes, func() error {
			return errors.Join(native.WriteWAV(f, s.ear.Recording()), f.Close())
		})
	}
	return nil
}

// speak says the file, if there is one; said is closed when it is said, and nil without one.
func (s *sounds) speak() (said <-chan struct{}, err error) {
	if s.mouth == nil {
		return nil, nil
	}
	return s.mouth.Speak(s.file)
}

func (s *sounds) close() error {
	var all []error
	for _, c := range s.closes {
		all = append(all, c())
	}
	s.closes = nil
	return errors.Join(all...)
}
