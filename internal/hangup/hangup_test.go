package hangup

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/srtp/v3"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPionHasTheSessions checks that the private fields that discard reads exist in this version of pion.
func TestPionHasTheSessions(t *testing.T) {
	g := gomega.NewWithT(t)
	pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	transport := pc.SCTP().Transport()
	g.Expect(field(transport, "nothing")).To(gomega.BeNil())
	for _, name := range []string{"srtpSession", "srtcpSession"} {
		g.Expect(hasField(transport, name)).To(gomega.BeTrue(), name)
		g.Expect(field(transport, name)).To(gomega.BeNil(), "no session has begun")
	}
	g.Expect(Close(pc)).To(gomega.Succeed())
}

// TestDiscardWaitsForASession checks that the wait for a session ends when it begins, and when the connection has ended without one.
func TestDiscardWaitsForASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		done := make(chan struct{})
		var loaded session
		go func() {
			<-time.After(10 * poll)
			close(done)
		}()
		g.Expect(begun(func() session { return loaded }, done)).To(gomega.BeNil())
		loaded = rtpSession{&srtp.SessionSRTP{}}
		g.Expect(begun(func() session { return loaded }, done)).To(gomega.Equal(loaded))
	})
}

// TestCloseHasABound checks that a connection that does not end loses its sockets first, and is left behind then.
func TestCloseHasABound(t *testing.T) {
	for _, row := range []struct {
		name        string
		never, late bool // the connection never ends, or ends once its sockets are cut
		want        error
		cut         bool
		took        time.Duration
	}{
		{name: "ends at once"},
		{name: "ends when its sockets are cut", late: true, cut: true, took: CutAfter},
		{name: "never ends", never: true, want: ErrStuck, cut: true, took: GiveUpAfter},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				ended, began, cut := make(chan error, 1), time.Now(), false
				if !row.never && !row.late {
					ended <- nil
				}
				err := await(ended, CutAfter, GiveUpAfter, func() {
					cut = true
					if row.late {
						ended <- nil
					}
				})
				synctest.Wait()
				if row.want == nil {
					g.Expect(err).NotTo(gomega.HaveOccurred())
				} else {
					g.Expect(errors.Is(err, row.want)).To(gomega.BeTrue())
				}
				g.Expect(cut).To(gomega.Equal(row.cut))
				g.Expect(time.Since(began)).To(gomega.Equal(row.took))
			})
		})
	}
}

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		release := make(chan struct{})
		g.Expect(Within(time.Second, func() {})).To(gomega.BeTrue())
		g.Expect(Within(time.Second, func() { <-release })).To(gomega.BeFalse())
		close(release)
	})
}
