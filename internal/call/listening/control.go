package listening

// The calls of the session to an Input besides audio: it sets turn detection, commits and clears the buffer, and asks for times.

import (
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// minCommit is the least audio that can be committed, in samples: 100 ms, as in the protocol.
const minCommit = room.InputRate / 10

// Configure takes over the settings of turn detection; nil switches it off. The caller does not change td afterwards.
func (in *Input) Configure(td *wire.TurnDetection) {
	if old := in.settings; old != nil && td != nil {
		e := &in.listener.endpointing
		e.changed = e.changed || old.Type != td.Type || old.Eagerness != td.Eagerness || old.SilenceDurationMS != td.SilenceDurationMS
	}
	in.settings = td
	if td != nil {
		in.padding = td.PrefixPaddingMS
	}
}

// StartDetection starts the detector afresh.
func (in *Input) StartDetection() {
	in.on = true
	in.listener.detector.Reset()
	in.listener.endpointing = endpointing{}
}

// TurnEnded says that a turn has ended, committed or discarded.
func (in *Input) TurnEnded() {
	in.kept = keptAudio{}
	in.listener.endpointing.endTurn()
}

// --- the buffer

// TurnStart returns the position where a turn begins whose onset is the present frame: with its pre-roll, and with the words of a
// candidate that was rejected just before, as far as they are in the buffer.
func (in *Input) TurnStart() voice.Samples { return max(in.buffer.Start(), in.turnStart()) }

// Commit empties the buffer and returns its audio at room.InputRate. The caller owns it.
func (in *Input) Commit() []int16 {
	in.reportedFull = false
	return in.buffer.Commit()
}

// CheckCommit returns the failure of a client's commit when the buffer has too little audio, else nil.
func (in *Input) CheckCommit() *room.Failure {
	if in.buffer.Len() >= minCommit {
		return nil
	}
	return &room.Failure{
		Code: "input_audio_buffer_commit_empty",
		Message: fmt.Sprintf("Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has %.2fms of audio.",
			float64(in.buffer.Len())*1000/room.InputRate),
	}
}

// Clear forgets the buffer and what the decoder has kept back. Speech that goes on begins the next turn.
func (in *Input) Clear() {
	in.buffer.DropBefore(in.buffer.end)
	in.decoder.Reset()
	in.kept = keptAudio{}
	in.listener.endpointing.endTurn()
}

// --- times

// EndMS returns where the audio in the buffer ends, in ms since the session began. The detector has looked at a frame less: its resampler delays the audio.
func (in *Input) EndMS() int { return int(in.buffer.end.Milliseconds(room.InputRate)) }

// AudioTimeoutIn returns how long after now the client may still be silent before an open turn ends for it; 0 or less when that time
// is over. The detector counts audio, not time: without audio it would wait for ever.
func (in *Input) AudioTimeoutIn(now time.Time) time.Duration {
	return AudioTimeout - now.Sub(in.listener.lastAudio)
}

// Voiced reports whether the user speaks or has only just stopped: less than 200 ms before.
func (in *Input) Voiced() bool { return in.listener.endpointing.silentMS < pauseMS }

// IdleTimeout returns after how long without speech the session answers by itself (idle_timeout_ms); ok is false if it does not.
func (in *Input) IdleTimeout() (d time.Duration, ok bool) {
	td := in.settings
	if !in.Detecting() || td.Type != wire.ServerVAD || td.IdleTimeoutMS == nil {
		return 0, false
	}
	return time.Duration(*td.IdleTimeoutMS) * time.Millisecond, true
}

// FramesSince returns the frames from position start on, as far back as the buffer has them, for a recogniser that opens when the turn has begun. The caller owns them. They are
// those that Next has returned, but that the first 3 ms are filtered as after silence. It does not know any more in which of the audio before the last 1.2 s the user spoke: the end
// of a turn is not judged by that.
func (in *Input) FramesSince(start voice.Samples) (frames []Frame) {
	first := (max(start, in.buffer.Start()) + frameSamples - 1) / frameSamples
	n := int(in.frames - int64(first))
	if n <= 0 {
		return nil
	}
	again := in.framing.again
	again.Reset()
	pcm := again.AppendFloats(make([]float32, 0, (n+2)*voice.FrameSize), in.buffer.From(first*frameSamples))
	for i := range min(n, len(pcm)/voice.FrameSize) {
		spoken := len(in.recent) - n + i
		frames = append(frames, Frame{PCM: pcm[i*voice.FrameSize:][:voice.FrameSize:voice.FrameSize], Speech: spoken >= 0 && in.recent[spoken]})
	}
	return frames
}
