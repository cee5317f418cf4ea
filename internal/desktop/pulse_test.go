//go:build linux

package desktop

// Opening a device where no sound server runs.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestWithoutASoundServerOpenFails(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("PULSE_SERVER", "unix:"+t.TempDir()+"/none")
	_, err := OpenMicrophone("")
	g.Expect(err).To(gomega.Or(gomega.MatchError(ErrNoServer), gomega.MatchError(ErrNoLibrary)))
	_, err = OpenSpeaker("nothing of that name")
	g.Expect(err).To(gomega.Or(gomega.MatchError(ErrNoServer), gomega.MatchError(ErrNoLibrary)))
}
