package gate

// The options at the beginning of a specification: which ones it must have, and which values they may have.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	ast "fizz/proto"
)

type option struct {
	key   string
	valid func(string) bool
	wants string
}

// options are the options that a spec must have, with their possible values. The checker's defaults explore less than one expects,
// and it ignores a misspelt option.
var options = []option{
	{"deadlock_detection", isBool, "true or false"},
	{"options.max_actions", isCount, "a number above 0"},
	{"options.max_concurrent_actions", isCount, "a number above 0"},
	{"options.crash_on_yield", isBool, "true or false"},
}

const (
	optionsKey = "options"
	// The one way to speak of liveness is the word that means what its absence means.
	livenessKey  = "liveness"
	livenessWord = "strict"
)

func isBool(s string) bool { return s == "true" || s == "false" }

func isCount(s string) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && n > 0
}

// frontMatter checks the options. They must be in a simple form, with much less than YAML allows, so that no other spelling of an
// option is overlooked. The line numbers are those of the file.
func frontMatter(f *ast.File) []Problem {
	var out []Problem
	seen := map[string]bool{}
	section := ""
	for i, line := range strings.Split(f.GetFrontMatter().GetYaml(), "\n") {
		text, _, _ := strings.Cut(line, "#")
		text = strings.TrimRight(text, " \t\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		key, value, isPair := strings.Cut(strings.TrimLeft(text, " "), ":")
		value = strings.TrimSpace(value)
		switch {
		case !isPair:
			out = append(out, Problem{i + 1, fmt.Sprintf("found %q in the front matter, expected `key: value`", strings.TrimSpace(text))})
			continue
		case !strings.HasPrefix(text, " "):
			section = ""
		}
		what := wrongOption(section+key, value)
		if seen[section+key] {
			what = section + key + " is there twice"
		}
		if what != "" {
			out = append(out, Problem{i + 1, what})
		}
		seen[section+key] = true
		if section+key == optionsKey {
			section = optionsKey + "."
		}
	}
	for _, o := range options {
		if !seen[o.key] {
			out = append(out, Problem{1, fmt.Sprintf("%s is missing: it must be said, and be %s", o.key, o.wants)})
		}
	}
	return out
}

// wrongOption returns what is wrong with one line of the options, or "".
func wrongOption(key, value string) string {
	switch {
	case key == optionsKey && value == "":
		return ""
	case key == optionsKey:
		return fmt.Sprintf("options: found %q, expected one option a line below it", value)
	case key == livenessKey && value == livenessWord:
		return ""
	case key == livenessKey:
		return fmt.Sprintf("liveness: %s switches the liveness checks off: remove the line, or write `%s: %s`", value, livenessKey, livenessWord)
	}
	at := slices.IndexFunc(options, func(o option) bool { return o.key == key })
	if at < 0 {
		return "unknown option " + key
	}
	if !options[at].valid(value) {
		return fmt.Sprintf("%s is %q, expected %s", key, value, options[at].wants)
	}
	return ""
}
