package linkstate

import (
	"reflect"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/onsi/gomega"
	"github.com/pion/webrtc/v4"
)

const patience = 20 * time.Second

// TestStaleState: pion's own state is older than those of the transports.
func TestStaleState(t *testing.T) {
	g := gomega.NewWithT(t)
	near, far := newConnection(t, g), newConnection(t, g)
	link := Watch(near)
	becomes := func(want webrtc.PeerConnectionState) {
		limit := time.After(patience)
		for link.State() != want {
			select {
			case <-link.Changed():
			case <-limit:
				g.Expect(link.State()).To(gomega.Equal(want))
			}
		}
	}
	becomes(webrtc.PeerConnectionStateConnecting)
	connect(g, near, far)
	becomes(webrtc.PeerConnectionStateConnected)
	g.Eventually(near.ConnectionState, patience).Should(gomega.Equal(webrtc.PeerConnectionStateConnected))

	field := reflect.ValueOf(near).Elem().FieldByName("connectionState")
	(*atomic.Value)(unsafe.Pointer(field.UnsafeAddr())).Store(webrtc.PeerConnectionStateConnecting) //nolint:gosec // no public way
	g.Expect(near.ConnectionState()).To(gomega.Equal(webrtc.PeerConnectionStateConnecting))
	g.Expect(link.State()).To(gomega.Equal(webrtc.PeerConnectionStateConnected))

	g.Expect(near.Close()).To(gomega.Succeed())
	becomes(webrtc.PeerConnectionStateClosed)
}

func TestStates(t *testing.T) {
	g := gomega.NewWithT(t)
	ices := []webrtc.ICETransportState{
		webrtc.ICETransportStateNew, webrtc.ICETransportStateChecking, webrtc.ICETransportStateConnected, webrtc.ICETransportStateCompleted,
		webrtc.ICETransportStateDisconnected, webrtc.ICETransportStateFailed, webrtc.ICETransportStateClosed,
	}
	// Each letter is the state of the connection for one state of the ICE transport, in the order of ices: x is connecting, C connected,
	// D disconnected, F failed, E closed.
	for dtls, want := range map[webrtc.DTLSTransportState]string{
		webrtc.DTLSTransportStateNew:        "xxxxDFE",
		webrtc.DTLSTransportStateConnecting: "xxxxDFE",
		webrtc.DTLSTransportStateConnected:  "xxCCDFE",
		webrtc.DTLSTransportStateFailed:     "FFFFFFE",
		webrtc.DTLSTransportStateClosed:     "EEEEEEE",
	} {
		got := ""
		for _, ice := range ices {
			got += map[webrtc.PeerConnectionState]string{
				webrtc.PeerConnectionStateConnecting: "x", webrtc.PeerConnectionStateConnected: "C",
				webrtc.PeerConnectionStateDisconnected: "D", webrtc.PeerConnectionStateFailed: "F", webrtc.PeerConnectionStateClosed: "E",
			}[of(ice, dtls)]
		}
		g.Expect(got).To(gomega.Equal(want), dtls.String())
	}
}

func newConnection(t *testing.T, g *gomega.WithT) *webrtc.PeerConnection {
	t.Helper()
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = pc.Close() }) // the test may have closed it
	return pc
}

// connect lets near offer a data channel to far.
func connect(g *gomega.WithT, near, far *webrtc.PeerConnection) {
	_, err := near.CreateDataChannel("events", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	offer, err := near.CreateOffer(nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	describe(g, near, offer)
	g.Expect(far.SetRemoteDescription(*near.LocalDescription())).To(gomega.Succeed())
	answer, err := far.CreateAnswer(nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	describe(g, far, answer)
	g.Expect(near.SetRemoteDescription(*far.LocalDescription())).To(gomega.Succeed())
}

// describe sets the local description and waits until it has all addresses.
func describe(g *gomega.WithT, pc *webrtc.PeerConnection, d webrtc.SessionDescription) {
	gathered := webrtc.GatheringCompletePromise(pc)
	g.Expect(pc.SetLocalDescription(d)).To(gomega.Succeed())
	g.Eventually(gathered, patience).Should(gomega.BeClosed())
}
