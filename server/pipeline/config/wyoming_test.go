package config

// The kinds of Wyoming services in the file.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestWyomingServices(t *testing.T) {
	g := gomega.NewWithT(t)
	src := "stt: {kind: wyoming, url: 'tcp://a:10300', model: base, timeout: {idle: 2s}}\ntts: {kind: wyoming, url: 'unix:///run/piper.sock', voice: x, speaker: y}"
	f, err := Parse("antiphon.yaml", []byte(src), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Components()[0].Detail).To(gomega.Equal("base at tcp://a:10300"))
	g.Expect(p.Components()[2].Detail).To(gomega.Equal("x at unix:///run/piper.sock"))
	g.Expect(p.Close()).To(gomega.Succeed())

	f, err = Parse("antiphon.yaml", []byte("stt: {kind: wyoming, url: 'http://a'}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = f.Pipeline(t.Context(), Env{})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(`stt (kind wyoming): url: "http://a" is no address of a Wyoming service`)))
}
