package bench

// This file measures how many calls one processor serves if the server is nothing but pion: the reference of the capacity campaign.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/bare"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// barePacket is as large as a packet of speech at the server's bitrate of 40 kbit/s.
var barePacket = bytes.Repeat([]byte{1}, 100)

// ServeBare answers calls with bare pion until ctx is done. It sends each packet of a client back: a packet each way every 20 ms, as in a call. It writes
// its address to w as a server does.
func ServeBare(ctx context.Context, w io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var peers sync.WaitGroup
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err != nil {
			return // the client has gone
		}
		peer, answer, err := bare.Answer(string(offer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		peers.Go(func() {
			defer func() { _ = peer.Close() }() // the process ends after it
			for {
				select {
				case p := <-peer.Packets():
					_ = peer.Speak(p.Payload) // the client has gone, or gets the next one
				case <-ctx.Done():
					return
				}
			}
		})
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	})}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintln(w, "listening on http://"+listener.Addr().String())
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	peers.Wait()
	return err
}

// bareCapacity returns how many calls of bare pion one processor serves, as measured for the given time with n of them, and how long after they were sent their packets came back.
func bareCapacity(ctx context.Context, n int, within time.Duration) (calls float64, late lateness, err error) {
	server, _, err := startApart(func() (*child, error) { return start(ctx, "bench", "--bare-server") })
	if err != nil {
		return 0, late, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	var speaking sync.WaitGroup
	defer speaking.Wait()
	defer cancel()
	start := time.Now()
	came := make([]lateness, n)
	for i := range n {
		peer, err := bare.Call(ctx, http.DefaultClient, server.url)
		if err != nil {
			return 0, late, err
		}
		speaking.Go(func() {
			defer func() { _ = peer.Close() }() // what was measured is known
			packet := bytes.Clone(barePacket)
			for pause(ctx, native.FrameTime) == nil && peer.Speak(binary.BigEndian.AppendUint64(packet[:0], uint64(time.Since(start)))[:len(packet)]) == nil {
			}
		})
		speaking.Go(func() {
			for {
				select {
				case p := <-peer.Packets(): // its first bytes say when it was sent
					now := time.Since(start)
					came[i].frame(now, now-time.Duration(binary.BigEndian.Uint64(p.Payload)))
				case <-ctx.Done():
					return
				}
			}
		})
	}
	before, err1 := consumed(server.cmd.Process.Pid)
	begin := time.Now()
	err = pause(ctx, within)
	took := time.Since(begin)
	after, err2 := consumed(server.cmd.Process.Pid)
	cancel()
	speaking.Wait()
	for _, l := range came {
		late.behind, late.moments = append(late.behind, l.behind...), append(late.moments, l.moments...)
	}
	return float64(n) * float64(took) / float64(after.ran-before.ran), late, errors.Join(err, err1, err2)
}
