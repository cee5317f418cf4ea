package speaking

// How far the synthesizer may run ahead of the sent audio.

import (
	"golang.org/x/sync/semaphore"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// LookAhead is how much audio of a response may be generated ahead of the sent audio: 5 s, in samples.
const LookAhead = 5 * room.OutputRate

// Credit bounds how far the synthesizer of one response runs ahead of the sent audio. The synthesizer acquires samples
// from Room; sending gives them back.
type Credit struct {
	// Room is safe for concurrent use. Its size is LookAhead.
	Room *semaphore.Weighted

	// The following fields belong to one goroutine of the link: the pacer, or the writer of events.
	since uint64 // the response's first segment: the pacer may still report an earlier one
	sent  voice.Samples
}

// upTo gives back everything up to position sent.
func (c *Credit) upTo(sent voice.Samples) {
	if sent > c.sent {
		c.Room.Release(int64(sent - c.sent))
		c.sent = sent
	}
}
