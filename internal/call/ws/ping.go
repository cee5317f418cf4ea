package ws

import (
	"context"
	"time"
)

// Pings: find a client that is gone without a word, and keep the connection open in proxies that close idle ones.

const (
	// pingEvery is shorter than the idle time of common proxies, which is 60 s.
	pingEvery = 20 * time.Second
	// pongTimeout is how long a client may take to answer. It is long because an answer waits behind events that the event limiter holds.
	pongTimeout = 40 * time.Second
)

// ping sends pings until the link sends nothing more. If the client does not answer, it reports to the receiver that the client is gone.
func (l *Link) ping(ctx context.Context, to Receiver) {
	next := time.NewTicker(pingEvery)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-l.ended:
			return
		case <-ctx.Done():
			return
		}
		if err := l.pingOnce(ctx); err != nil {
			if ctx.Err() == nil {
				to.Gone(whyGone(err))
			}
			return
		}
	}
}

// pingOnce sends a ping and waits for the answer.
func (l *Link) pingOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pongTimeout)
	defer cancel()
	return l.conn.Ping(ctx)
}
