package main

// The output of `antiphon key`.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
)

func TestKey(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	g.Expect((&key{Name: "kitchen"}).print(strings.NewReader(""), &out)).To(gomega.Succeed())
	lines := strings.Split(out.String(), "\n")
	g.Expect(lines).To(gomega.HaveLen(3))
	keys, err := apikey.Read(strings.NewReader(lines[1]))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(keys[0].Name).To(gomega.Equal("kitchen"))
	g.Expect(keys[0].Plain).To(gomega.BeFalse())

	var again strings.Builder
	g.Expect((&key{Name: "kitchen", Stdin: true}).print(strings.NewReader(lines[0]+"\n"), &again)).To(gomega.Succeed())
	g.Expect(again.String()).To(gomega.Equal(lines[1]+"\n"), "a key that there is gets the same line")

	g.Expect((&key{Stdin: true}).print(strings.NewReader(""), &again)).To(gomega.MatchError(gomega.ContainSubstring("standard input")))
	g.Expect((&key{Stdin: true}).print(strings.NewReader("short"), &again)).To(gomega.MatchError(gomega.ContainSubstring("too short")))
	g.Expect((&key{Name: "a\nb"}).print(strings.NewReader(""), &again)).To(gomega.MatchError(gomega.ContainSubstring("name")))
}
