package apikey

// Reading key files, with hashed and plain keys, and making keys.

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestReadKeys(t *testing.T) {
	g := gomega.NewWithT(t)
	line, err := Line("key-of-the-desk-1234", "desk")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	k, err := Read(strings.NewReader("# of the front desk\n\n  " + line + "  \nanother-key-of-the-house\n"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(k).To(gomega.HaveLen(2))
	g.Expect(k[0].Name).To(gomega.Equal("desk"))
	g.Expect(k[0].Plain).To(gomega.BeFalse())
	g.Expect(k[1].Name).To(gomega.MatchRegexp("^key-[0-9a-f]{12}$"))
	g.Expect(k[1].Plain).To(gomega.BeTrue())

	hash := "sha256:" + strings.Repeat("0a", 32)
	for name, row := range map[string]struct{ file, says string }{
		"an empty file":               {"", "no key"},
		"comments alone":              {"# none\n\n", "no key"},
		"a key that is weak":          {"\nhunter2\n", "line 2: a key of 7 characters is too short"},
		"a key with a space":          {"a key that nobody can send\n", "antiphon key"},
		"a key that is no ASCII":      {"schlüsselschlüssel\n", "antiphon key"},
		"a hash that is short":        {"sha256:abcd desk\n", "64 hexadecimal digits"},
		"a hash of other digits":      {"sha256:" + strings.Repeat("xy", 32) + "\n", "64 hexadecimal digits"},
		"a name with control in it":   {hash + " de\x1bsk\n", "control characters"},
		"a name that is no UTF-8":     {hash + " K\xe4se\n", "UTF-8"},
		"a name that is too long":     {hash + " " + strings.Repeat("x", maxName+1) + "\n", "at most 64"},
		"too many":                    {strings.Repeat(hash+"\n", maxKeys+1), "more than 10000"},
		"a line without end":          {strings.Repeat("x", 1<<20), "reading keys"},
		"a hash with nothing between": {hash + "desk\n", "a name after a space"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(row.file))
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
}

func TestNew(t *testing.T) {
	g := gomega.NewWithT(t)
	key, line, err := New("the kitchen")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	other, _, err := New("")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(key).NotTo(gomega.Equal(other))
	g.Expect(key).To(gomega.MatchRegexp("^ak_[a-z2-7]{32}$"))
	g.Expect(line).To(gomega.MatchRegexp("^sha256:[0-9a-f]{64} the kitchen$"))
	g.Expect(line).NotTo(gomega.ContainSubstring(key))

	k, err := Read(strings.NewReader(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	name, ok := k.Principal(key)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(name).To(gomega.Equal("the kitchen"))
	_, ok = k.Principal(other)
	g.Expect(ok).To(gomega.BeFalse())

	_, _, err = New("a\nb")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("control characters")))
	_, err = Line("short", "")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("too short")))
}

// FuzzRead checks that a key file that can be read has keys with names, and that each key has the right principal.
func FuzzRead(f *testing.F) {
	f.Add("# keys\nsha256:" + strings.Repeat("0a", sha256.Size) + " desk\nplain-text-of-a-key\n")
	f.Add("sha256:\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, k := range keys {
			if k.Name == "" || len(k.Name) > maxName {
				t.Errorf("a principal named %q", k.Name)
			}
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || strings.HasPrefix(line, sumPrefix) {
				continue
			}
			if _, ok := keys.Principal(line); !ok {
				t.Errorf("the key %q is not among them", line)
			}
		}
	})
}
