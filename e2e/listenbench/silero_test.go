package listenbench

// Silero's voice detector beside ours: scripts/silero.py runs it.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	sileroWindow = 512 // samples of one judgement
	sileroSpeech = 0.5 // probability from which on a window counts as speech: the default of Silero's own package
	sileroStop   = 10 * time.Second
)

// bySilero returns the turns with the speech that Silero hears. python is the one that has its packages. A frame has the judgement of the last window that was complete.
func bySilero(ctx context.Context, python string, all []heard) (changed []heard, err error) {
	cmd := exec.CommandContext(ctx, python, "../../scripts/silero.py")
	cmd.Stderr, cmd.WaitDelay = os.Stderr, sileroStop
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	for _, h := range all {
		windows, err := judgedBySilero(in, out, h.pcm)
		if err != nil {
			return nil, err
		}
		h.speech = sileroFrames(windows, len(h.speech))
		changed = append(changed, h)
	}
	return changed, nil
}

// judgedBySilero returns the probability of speech of each window.
func judgedBySilero(in io.Writer, out io.Reader, pcm []float32) ([]float32, error) {
	if err := errors.Join(binary.Write(in, binary.LittleEndian, int32(len(pcm))), binary.Write(in, binary.LittleEndian, pcm)); err != nil {
		return nil, err
	}
	var n int32
	if err := binary.Read(out, binary.LittleEndian, &n); err != nil {
		return nil, err
	}
	if int(n) != len(pcm)/sileroWindow {
		return nil, fmt.Errorf("%d windows for %d samples", n, len(pcm))
	}
	windows := make([]float32, n)
	return windows, binary.Read(out, binary.LittleEndian, windows)
}

// sileroFrames returns the judgement of n frames.
func sileroFrames(windows []float32, n int) []bool {
	speech := make([]bool, n)
	for i := range speech {
		if complete := (i + 1) * voice.FrameSize / sileroWindow; complete > 0 {
			speech[i] = windows[complete-1] >= sileroSpeech
		}
	}
	return speech
}
