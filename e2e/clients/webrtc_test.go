package clients

// The package openai over WebRTC, with each form of an offer.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// openaiOverWebRTC makes a call with each form in which an offer may come. The first call takes all steps; the others
// only show that they are connected.
func openaiOverWebRTC(t *testing.T, b *rig.Browser, page string) {
	h := open(t, "openai-webrtc", "--tls-self-signed", "--origin", page)
	for _, form := range []string{"sdp", "fields", "files"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			p := runPage(t, b, page, "openaiWebRTC", args{"url": h.url, "key": key})
			s := &openai{
				suite: newSuite(t, "openai, WebRTC ("+form+")", p), target: args{"form": form}, speak: p.speak, heard: p.heard, webRTC: true,
				listens: func() {}, // the call has the microphone
			}
			switch form {
			case "sdp":
				s.run()
			case "fields":
				s.step("connect", s.connects)
				s.step("find the session of the form", s.findsSession)
				s.step("configure the session", s.configures)
				s.step("hear an answer", s.hears)
				s.step("speak a turn", s.speaks)
				s.step("close", s.closes)
			case "files":
				s.step("connect", s.connects)
				s.step("find the session of the form", s.findsSession)
				s.step("control it from the side", func() { s.isControlled(h) })
				s.step("speak a turn", s.speaks)
				s.step("hang up", s.hangsUp)
			}
		})
	}
	t.Cleanup(func() {
		h.stop()
		h.holds(3)
	})
}

// findsSession: the settings that came with the offer apply from the start.
func (s *openai) findsSession() {
	s.Expect(s.seen[0].Session.Instructions).To(gomega.Equal("Be brief."))
}

// isControlled: a side-band controller, in Node, joins the call by its id, changes it and gets its events.
func (s *openai) isControlled(h *house) {
	n := runNode(s.t, "openaiWS", args{"url": h.url, "key": key}, "NODE_EXTRA_CA_CERTS="+h.certificate())
	side := onSocket(&suite{WithT: s.WithT, client: n, t: s.t, name: s.name})
	side.tell("connect", args{"target": args{"callID": s.call}})
	s.Expect(side.next("session.created").Session.ID).To(gomega.Equal(s.seen[0].Session.ID))
	side.send(args{"type": "session.update", "session": args{"type": "realtime", "instructions": "Sing."}})
	s.Expect(side.next("session.updated").Session.Instructions).To(gomega.Equal("Sing."))
	s.Expect(s.next("session.updated").Session.Instructions).To(gomega.Equal("Sing."))
	side.write("from the side")
	side.create(nil)
	side.answer("You said: from the side")
	s.answer("You said: from the side")
	s.played()
	side.closes()
}

// hangsUp ends the call over HTTP; the connection ends with it.
func (s *openai) hangsUp() {
	s.tell("hangUp", nil)
	s.Eventually(s.report).Should(gomega.HaveField("State", "closed"))
	r := s.report()
	s.Expect(r.Errors).To(gomega.BeEmpty())
	s.Expect(r.Happened).To(gomega.HaveExactElements("connecting", "connected", "closed"))
}
