package terminal

// This file opens the microphone and the loudspeaker of a call, or the files in their place.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/desktop"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// sounds are the source of the user's speech and the sink of the agent's sound.
type sounds struct {
	source native.Source // nil: the call has no microphone
	sink   native.Sink   // nil: the agent's sound is not played
	device bool          // source is the desktop's microphone, which has no end

	file     []int16            // the samples of the WAV file to say
	fromFile *native.Microphone // the source that says file; nil without a file
	closers  []func() error
}

// maxRecording limits how much of the agent's sound is kept for a file.
const maxRecording = 30 * time.Minute

// openSound opens the microphone and the loudspeaker that o names. If the desktop has none, openSound writes that to note and
// returns no error: the user can still type. A file that cannot be opened is an error.
func openSound(o Options, note io.Writer) (*sounds, error) {
	s := &sounds{}
	if o.Text {
		return s, nil
	}
	if err := errors.Join(s.openMicrophone(o.Microphone, note), s.openSpeaker(o.Speaker, note)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// deviceName reports whether a flag asks for a device, and returns its name, which is empty for the default device.
func deviceName(flag string) (name string, device bool) {
	if flag == "device" {
		return "", true
	}
	return strings.CutPrefix(flag, "device:")
}

func (s *sounds) openMicrophone(flag string, note io.Writer) error {
	name, device := deviceName(flag)
	switch {
	case flag == "none":
		return nil
	case device:
		m, err := desktop.OpenMicrophone(name)
		if err != nil {
			fmt.Fprintln(note, "antiphon: no microphone, so type:", err)
			return nil
		}
		s.source, s.device = m, true
		s.closers = append(s.closers, m.Close)
		return nil
	}
	f, err := os.Open(flag)
	if err != nil {
		return fmt.Errorf("the file to say: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	if s.file, err = native.ReadWAV(f); err != nil {
		return fmt.Errorf("the file to say, %s: %w", flag, err)
	}
	s.fromFile = &native.Microphone{}
	s.source = s.fromFile
	return nil
}

func (s *sounds) openSpeaker(flag string, note io.Writer) error {
	name, device := deviceName(flag)
	switch {
	case flag == "none":
	case device:
		p, err := desktop.OpenSpeaker(name)
		if err != nil {
			fmt.Fprintln(note, "antiphon: no loudspeaker, so read:", err)
			return nil
		}
		s.sink = p
		s.closers = append(s.closers, p.Close)
	default:
		f, err := os.Create(flag) // before the call, so that an error comes early
		if err != nil {
			return fmt.Errorf("the file for the agent's voice: %w", err)
		}
		recorder := native.NewSpeaker(maxRecording)
		s.sink = recorder
		s.closers = append(s.closers, func() error {
			return errors.Join(native.WriteWAV(f, recorder.Recording()), f.Close())
		})
	}
	return nil
}

// speak begins to say the WAV file. said is closed at its end; it is nil if there is no file.
func (s *sounds) speak() (said <-chan struct{}, err error) {
	if s.fromFile == nil {
		return nil, nil
	}
	return s.fromFile.Speak(s.file)
}

// close closes the devices and writes the file of the agent's sound.
func (s *sounds) close() error {
	var all []error
	for _, c := range s.closers {
		all = append(all, c())
	}
	s.closers = nil
	return errors.Join(all...)
}
