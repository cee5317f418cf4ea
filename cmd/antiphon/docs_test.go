package main

// The documents: this program has the commands and flags that they give, and takes the files that they show.

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/calltest"
)

// fence is a block of code of a document: its indentation, its language, its text.
var fence = regexp.MustCompile("(?ms)^( *)```(\\w+)\n(.*?)^ *```")

// documents returns the documents of the repository, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	g := gomega.NewWithT(t)
	all := map[string]string{}
	for _, pattern := range []string{"../../[RS]*.md", "../../docs/*.md"} {
		names, err := filepath.Glob(pattern)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, name := range names {
			text, err := os.ReadFile(name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			all[name] = string(text)
		}
	}
	return all
}

// options adds the names of the flags of a command and of those below it.
func options(n *kong.Node, names map[string]bool) map[string]bool {
	for _, f := range n.Flags {
		names[f.Name], names["no-"+f.Name] = true, f.Tag.Negatable != ""
	}
	for _, below := range n.Children {
		options(below, names)
	}
	return names
}

// Every command of this program in a document exists, with its flags, and every flag that stands alone.
func TestTheCommandsInTheDocumentsExist(t *testing.T) {
	var c commands
	k, err := kong.New(&c)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	command := regexp.MustCompile("(?:bin/|^|[ `\n])antiphon ([a-z][^`\n|&;]*)")
	flag := regexp.MustCompile(`--([a-z][a-z-]+)`)
	span := regexp.MustCompile("`[^`\n]+`")
	all := options(k.Model.Node, map[string]bool{"antiphon-paper": true}) // a variable of CSS
	for name, text := range documents(t) {
		var code []string
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if m[2] == "sh" {
				code = append(code, strings.ReplaceAll(m[3], "\\\n", " "))
			}
		}
		for _, s := range span.FindAllString(fence.ReplaceAllString(text, ""), -1) {
			if m := flag.FindStringSubmatch(s); strings.HasPrefix(s, "`--") && m != nil && !all[m[1]] {
				t.Errorf("%s names %s, which no command has", name, s)
			}
			code = append(code, s)
		}
		for _, m := range command.FindAllStringSubmatch(strings.Join(code, "\n"), -1) {
			node := k.Model.Node
			for word := range strings.FieldsSeq(m[1]) {
				for _, child := range node.Children {
					if child.Name == word {
						node = child
					}
				}
			}
			has := options(node, map[string]bool{"help": true})
			if node == k.Model.Node {
				t.Errorf("%s says %q, which is no command", name, m[0])
			}
			for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
				if !has[f[1]] {
					t.Errorf("%s says %q: there is no flag --%s", name, m[0], f[1])
				}
			}
		}
	}
}

// A file in YAML that a document shows is a configuration, a file of limits, or calls. TestDocumentedScript has the script of a pipeline.
func TestTheFilesInTheDocumentsAreTaken(t *testing.T) {
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	secret := regexp.MustCompile(`env: \[?(\w+)`)
	for name, text := range documents(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			file := strings.ReplaceAll("\n"+m[3], "\n"+m[1], "\n")[1:]
			if m[2] != "yaml" || strings.HasPrefix(file, "pipeline: scripted") {
				continue
			}
			t.Run(filepath.Base(name)+" "+file, func(t *testing.T) {
				g := gomega.NewWithT(t)
				t.Chdir(t.TempDir())
				for _, s := range secret.FindAllStringSubmatch(file, -1) {
					t.Setenv(s[1], "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
				}
				g.Expect(os.WriteFile("f.yaml", []byte(file), 0o600)).To(gomega.Succeed())
				var err error
				switch {
				case strings.HasPrefix(file, "max-"):
					_, err = limits{}.readLimits("f.yaml")
				case strings.Contains(file, "\ncall:"):
					_, err = calltest.Load("f.yaml")
				case strings.HasPrefix(file, "voices:"): // a check needs the network that tells voices apart
					_, err = (&serve{Config: "f.yaml"}).readConfig(nil)
				default:
					err = (&checkConfig{File: "f.yaml"}).check(t.Context(), new(strings.Builder))
				}
				g.Expect(err).To(gomega.Or(gomega.Succeed(), gomega.MatchError(fs.ErrNotExist)), "recordings and lists of words are the reader's own")
			})
		}
	}
}
