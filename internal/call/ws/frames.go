package ws

import (
	"bufio"
	"encoding/binary"
	"net"
	"net/http"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
)

// The frame limiter: slows a client that sends very many frames. Pings and pieces of messages are no events, so no other limit counts them.

const (
	// framesPerEvent is how many frames a client may send for each event of Limits.EventsPerSecond.
	framesPerEvent = 2
	// frameBurstSeconds is for how long a client that was quiet may send frames as fast as it likes: by default 4000 frames, which is
	// a message of 16 MiB in pieces of 4 KiB.
	frameBurstSeconds = 4
)

// meteredWriter is an http.ResponseWriter whose connection, once hijacked, has a frame limiter.
type meteredWriter struct {
	http.ResponseWriter
	hijacker http.Hijacker
	limits   Limits
}

// metered returns w with a frame limiter. It returns w itself if w cannot be hijacked.
func metered(w http.ResponseWriter, limits Limits) http.ResponseWriter {
	for inner := w; ; {
		switch t := inner.(type) {
		case http.Hijacker:
			return meteredWriter{w, t, limits}
		case interface{ Unwrap() http.ResponseWriter }:
			inner = t.Unwrap()
		default:
			return w
		}
	}
}

// Hijack implements http.Hijacker.
func (w meteredWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	inner, buffered, err := w.hijacker.Hijack()
	if err != nil {
		return nil, nil, err
	}
	rate := float64(framesPerEvent * w.limits.EventsPerSecond)
	c := &meteredConn{
		Conn: inner, env: w.limits.Env, bucket: link.NewTokenBucket(rate*frameBurstSeconds, rate, w.limits.Env.Now()), closed: make(chan struct{}),
	}
	early, err := buffered.Reader.Peek(buffered.Reader.Buffered()) // frames that came with the request
	if err != nil {
		return nil, nil, err
	}
	c.bucket.Take(float64(c.frames.count(early)))
	return c, buffered, nil
}

// meteredConn is a connection whose Read waits when too many frames have come. Close ends the wait. Reads are for one goroutine at a time.
type meteredConn struct {
	net.Conn
	env    env.Env
	frames frameCounter
	bucket *link.TokenBucket
	once   sync.Once
	closed chan struct{}
}

// Read implements net.Conn.
func (c *meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if frames := c.frames.count(p[:n]); frames > 0 {
		c.bucket.Fill(c.env.Now())
		c.bucket.Take(float64(frames))
		c.wait()
	}
	return n, err
}

// wait returns when the bucket is not below zero, or when the connection is closed.
func (c *meteredConn) wait() {
	left := c.bucket.Wait(0)
	if left == 0 {
		return
	}
	due := make(chan struct{})
	timer := c.env.AfterFunc(left, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-c.closed:
	}
}

// Close implements net.Conn.
func (c *meteredConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// frameCounter counts the frames in a stream of bytes (RFC 6455, section 5.2). The zero value is at the begin of a frame.
type frameCounter struct {
	header [14]byte
	have   int    // bytes of the header that were read
	skip   uint64 // bytes of the payload that were not read yet
}

// count returns how many headers of frames end in p, which follows what was counted before.
func (f *frameCounter) count(p []byte) (frames int) {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(p)))
			f.skip -= n
			p = p[n:]
			continue
		}
		f.header[f.have] = p[0]
		f.have++
		p = p[1:]
		if size, payload := f.sizes(); f.have == size {
			frames++
			f.have, f.skip = 0, payload
		}
	}
	return frames
}

// sizes returns the size of the header, as far as its first bytes tell it, and that of the payload, if the header is complete.
func (f *frameCounter) sizes() (header int, payload uint64) {
	if f.have < 2 {
		return 2, 0
	}
	header, payload = 2, uint64(f.header[1]&0x7f)
	switch payload {
	case 126:
		header, payload = 4, uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		header, payload = 10, binary.BigEndian.Uint64(f.header[2:])
	}
	if f.header[1]&0x80 != 0 {
		header += 4 // the mask
	}
	return header, payload
}
