package probe

// How long the connections of the stages take to dial.

import (
	"context"
	"net/http/httptrace"
	"sync"
	"time"
)

// dials notes how long each dial took, by the address. A request may use a connection that an earlier one dialled.
type dials struct {
	mu    sync.Mutex
	begun map[string]time.Time
	took  map[string]time.Duration
}

// trace returns a context that notes every dial below it.
func trace(ctx context.Context) (context.Context, *dials) {
	d := &dials{begun: map[string]time.Time{}, took: map[string]time.Duration{}}
	return d.note(ctx, new(time.Duration)), d
}

// stage returns a context for a request, and a function that returns how long the dial of the last connection took that the request got.
func (d *dials) stage(ctx context.Context) (_ context.Context, connect func() time.Duration) {
	var last time.Duration
	return d.note(ctx, &last), func() time.Duration {
		d.mu.Lock()
		defer d.mu.Unlock()
		return last
	}
}

// note returns a context that notes the dials below it. It sets last, under the lock, to the duration of the dial of each connection that
// a request gets.
func (d *dials) note(ctx context.Context, last *time.Duration) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart: func(_, address string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.begun[address] = time.Now()
		},
		ConnectDone: func(_, address string, err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if begun, is := d.begun[address]; is && err == nil {
				d.took[address] = time.Since(begun)
				*last = d.took[address]
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if took := d.took[info.Conn.RemoteAddr().String()]; took > 0 {
				*last = took
			}
		},
	})
}
