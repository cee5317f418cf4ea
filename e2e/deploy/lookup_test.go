package deploy

// How long it takes to find a call: from a request for its side-band to the answer, at its own server and through another one.

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
)

// Each server of a cluster finds a call, however many ask at a time. The test prints how many requests it has answered in a second; with ANTIPHON_CHAOS=500 it
// sends more of them.
func TestEachServerFindsACall(t *testing.T) {
	const clients = 4
	for _, count := range []int{1, 3} {
		g := gomega.NewWithT(t)
		all := nodes(t, count)
		call := postTo(g, all[0].URL+"/v1/realtime/calls", offer)
		g.Expect(call.StatusCode).To(gomega.Equal(http.StatusCreated))
		location := call.Header.Get("Location")
		id := location[strings.LastIndex(location, "/")+1:]
		for _, s := range all {
			of := "another server"
			if metric(g, s, "antiphon_sessions") == 1 {
				of = "the server of the call"
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			socketTo(ctx, t, s.URL+"/v1/realtime?call_id="+id)
			begin, each := time.Now(), size(t, 2)
			times := make([]time.Duration, clients*each)
			var refused atomic.Int64 // with 429: a call has a few side-bands at a time, and those before may not have ended yet
			var asked sync.WaitGroup
			for client := range clients {
				asked.Go(func() {
					for i := client * each; i < (client+1)*each; i++ {
						begin := time.Now()
						ws, _, err := websocket.Dial(ctx, s.URL+"/v1/realtime?call_id="+id, nil) //nolint:bodyclose // Dial has read it
						if times[i] = time.Since(begin); err != nil {
							refused.Add(1)
							continue
						}
						_ = ws.CloseNow() // the test needs no more of it
					}
				})
			}
			asked.Wait()
			rate := float64(len(times)) / time.Since(begin).Seconds()
			cancel()
			slices.Sort(times)
			t.Logf("%d nodes, %s: %.0f in a second, %d at a time; p50 %v, p99 %v; %d refused",
				count, of, rate, clients, times[len(times)/2], times[len(times)*99/100], refused.Load())
		}
	}
}
