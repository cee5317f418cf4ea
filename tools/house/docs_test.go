package house

// The documents: their links, paths, commands and Go code are right.

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	relativeLink = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	makeCommand  = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	directDep    = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
)

// documents are the Markdown files that speak about the repository as it is.
// The change log and the decisions speak of their own time.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, name := range tracked(t, "*.md") {
		if name != "CHANGELOG.md" && !strings.HasPrefix(name, "docs/decisions/") && !strings.Contains(name, "/testdata/") {
			docs[name] = string(read(t, name))
		}
	}
	return docs
}

func TestLinksLeadSomewhere(t *testing.T) {
	for name, text := range documents(t) {
		for _, link := range relativeLink.FindAllStringSubmatch(text, -1) {
			if target := filepath.Join(filepath.Dir(name), link[1]); !exists(target) {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			}
		}
	}
}

// A code span that starts with a folder of the repository names a file or a
// folder, and it is there or is built (git ignores it). A pattern (*) names at least one.
func TestPathsInDocumentsExist(t *testing.T) {
	folders := map[string]bool{}
	for _, file := range tracked(t) {
		if top, _, nested := strings.Cut(file, "/"); nested {
			folders[top] = true
		}
	}
	path := regexp.MustCompile(`^([a-zA-Z0-9_.-]+)(/[a-zA-Z0-9_.*-]+)+/?$`)
	for name, text := range documents(t) {
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			parts := path.FindStringSubmatch(span[1])
			if parts == nil || !folders[parts[1]] {
				continue
			}
			if built := exec.Command("git", "-C", root, "check-ignore", "-q", span[1]+"/").Run() == nil; built {
				continue
			}
			if found, err := filepath.Glob(filepath.Join(root, span[1])); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", name, span[1])
			}
		}
	}
}

func TestMakeCommandsInDocumentsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(read(t, "Makefile")), -1) {
		targets[m[1]] = true
	}
	fence := regexp.MustCompile("(?s)```.*?```")
	for name, text := range documents(t) {
		code := strings.Join(fence.FindAllString(text, -1), "\n")
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			code += "\n" + span[1]
		}
		for _, m := range makeCommand.FindAllStringSubmatch(code, -1) {
			if !targets[m[1]] {
				t.Errorf("%s says make %s, which the Makefile does not have", name, m[1])
			}
		}
	}
}

// Go that is shown in a document stands in an example, letter by letter: that is what CI compiles and runs.
func TestGoInDocumentsIsFromExamples(t *testing.T) {
	var examples []string
	for _, name := range tracked(t, "examples/*.go") {
		examples = append(examples, string(read(t, name)))
	}
	fence := regexp.MustCompile("(?s)```go\n(.*?)```")
	shown := 0
	for name, text := range documents(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			shown++
			if isSynopsis(t, m[1]) {
				continue
			}
			if !slices.ContainsFunc(examples, func(e string) bool { return strings.Contains(e, m[1]) }) {
				t.Errorf("%s shows Go that is not in examples/:\n%s", name, m[1])
			}
		}
	}
	if shown == 0 {
		t.Error("no document shows how to embed the server")
	}
}

// isSynopsis tells whether the code is interfaces of one line each. Their methods then stand in the code, letter by letter.
func isSynopsis(t *testing.T, code string) bool {
	line := regexp.MustCompile(`^type \w+ +interface \{ (.*) \}$`)
	for l := range strings.SplitSeq(strings.TrimSpace(code), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			return false
		}
		declared := func(name string) bool { return bytes.Contains(read(t, name), []byte("\n\t"+m[1]+"\n")) }
		if !slices.ContainsFunc(tracked(t, "*.go", ":!*_test.go"), declared) {
			t.Errorf("a document shows the method %s, which no interface has", m[1])
		}
	}
	return true
}

func TestEveryDependencyIsExplained(t *testing.T) {
	why := string(read(t, "docs/dependencies.md"))
	for _, mod := range []string{"go.mod", "tools/go.mod", "tools/tinygo/go.mod", "formal-verification/go.mod", "formal-verification/setup/go.mod"} {
		for _, m := range directDep.FindAllStringSubmatch(string(read(t, mod)), -1) {
			if !strings.Contains(why, m[1]) {
				t.Errorf("%s requires %s; docs/dependencies.md does not say why", mod, m[1])
			}
		}
	}
}

// A row of "Where do I find" gives a package and, in the next cell, files in it.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\|[^|]*\\| `([^`|]+)` \\|([^|]+)\\|$")
	rows := 0
	_, section, _ := strings.Cut(documents(t)["docs/architecture.md"], "## Where do I find")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		for _, file := range codeSpan.FindAllStringSubmatch(m[2], -1) {
			rows++
			if path := filepath.Join(m[1], file[1]); !exists(path) {
				t.Errorf("docs/architecture.md names %s, which does not exist", path)
			}
		}
	}
	if rows == 0 {
		t.Error("docs/architecture.md has no rows that name files: has its table changed?")
	}
}

// TestTheReadmeHasTheSnippetThatRuns: e2e/bundlers runs the page in React of docs/browser.md, and README.md shows the same one.
func TestTheReadmeHasTheSnippetThatRuns(t *testing.T) {
	snippet := regexp.MustCompile("(?s)```jsx\n.*?```")
	shown, runs := snippet.Find(read(t, "README.md")), snippet.Find(read(t, "docs/browser.md"))
	if shown == nil || string(shown) != string(runs) {
		t.Errorf("README.md has\n%s\nand docs/browser.md has\n%s", shown, runs)
	}
}
