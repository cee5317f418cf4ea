package httpapi

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/load"
)

// A server whose audio is late, or that has no processor time left, takes no further calls until that has changed.
func TestAdmissionByLoad(t *testing.T) {
	g := gomega.NewWithT(t)
	d := open(t, func(c *Config) { c.MaxLate, c.MaxCPU = 5, 90 })
	g.Expect(d.h.tooBusy(load.FewCalls, 5, 90)).To(gomega.BeNil())
	g.Expect(d.h.tooBusy(load.FewCalls, 6, 0).Message).To(gomega.ContainSubstring("6 % of the audio is late"))
	g.Expect(d.h.tooBusy(load.FewCalls, 0, 91).Code).To(gomega.Equal("server_overloaded"))
	g.Expect(d.h.tooBusy(load.FewCalls-1, 6, 91)).To(gomega.BeNil(), "a few calls are not what makes it busy")
	g.Expect(d.h.overloaded(load.FewCalls)).To(gomega.BeNil(), "nothing is measured yet")
}
