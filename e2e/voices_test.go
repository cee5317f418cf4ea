package e2e

// What the server says about the voices and the sounds of real recordings.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// A person speaks, and the client learns that it was speech.
func TestAPersonIsHeardAsSpeech(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	c := call(t, callOptions{name: "sounds", url: open(t, nil, nil).url})
	c.send(&wire.AntiphonHello{Sounds: true})
	c.speak(prompt(t, "cannot-complete-as-dialed"))
	committed := nextOf[*wire.InputAudioBufferCommitted](c)
	e := nextOf[*wire.AntiphonInputSounds](c)
	g.Expect(e.ItemID).To(gomega.Equal(committed.ItemID))
	g.Expect(e.Sound).To(gomega.Equal("speech"))
}
