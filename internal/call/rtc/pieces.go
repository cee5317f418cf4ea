package rtc

import (
	"strings"
	"sync"

	"github.com/pion/logging"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// The limit of the pieces in which a client's events arrive. A piece is one DATA chunk of SCTP. For each new piece pion/sctp sorts those that wait.

const (
	// smallPiece is the size in bytes below which a piece counts. Clients fill their packets, so of each event only the last piece is as small.
	smallPiece = 512
	// maxPieces is how many small pieces may wait for the reader of the events. A client that is not slowed down may send 2000 events at once.
	maxPieces = 4096
)

// pieces counts the small pieces of a client's events that wait.
type pieces struct {
	tooMany func(error) // is called for each piece above the limit

	mu      sync.Mutex
	waiting int          // each event that is read takes one away
	recent  [1024]uint32 // the number (TSN) of the last piece with the same last bits: a piece that comes twice counts once
}

// arrived counts a piece of n bytes. A piece of none is against the rules of SCTP.
func (p *pieces) arrived(number uint32, n int) {
	p.mu.Lock()
	if last := &p.recent[number%uint32(len(p.recent))]; *last != number {
		*last = number
		if n < smallPiece {
			p.waiting++
		}
	}
	over := p.waiting > maxPieces || n == 0
	p.mu.Unlock()
	if over {
		p.tooMany(link.ErrTooManyPieces)
	}
}

// read notes that an event was read.
func (p *pieces) read() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = max(0, p.waiting-1)
}

// pieceLog makes pion's loggers, and is one. It learns of the pieces from a message of pion/sctp, because pion/webrtc has neither a hook nor a setting for them.
type pieceLog struct {
	logging.LoggerFactory
	logging.LeveledLogger
	to *pieces
}

// NewLogger implements logging.LoggerFactory.
func (l pieceLog) NewLogger(scope string) logging.LeveledLogger {
	return pieceLog{l.LoggerFactory, l.LoggerFactory.NewLogger(scope), l.to}
}

// Tracef implements logging.LeveledLogger.
func (l pieceLog) Tracef(format string, a ...any) {
	if len(a) != 4 || !strings.HasPrefix(format, "[%s] DATA: tsn=%d ") {
		return
	}
	number, ok := a[1].(uint32)
	if n, is := a[3].(int); ok && is {
		l.to.arrived(number, n)
	}
}
