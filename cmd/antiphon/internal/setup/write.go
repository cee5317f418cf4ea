package setup

// Writing: the file for the chosen offers, and the backup of the file before it.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

const header = "# antiphon setup has written this file. antiphon config check looks for mistakes in it; docs/models.md describes it.\n"

// Text returns the file for the chosen offers. It keeps the sections of the file before it that are about no stage: server and session. What is built in gets no
// section: the server takes the best that is on the machine, also when there is more later.
func Text(chosen []Offer, before string) (string, error) {
	file := mapping()
	for _, o := range chosen {
		if o.Kind == "" {
			continue
		}
		section := mapping()
		for _, field := range []struct{ key, value string }{
			{"kind", o.Kind}, {"url", o.URL}, {"model", o.Model}, {"voice", o.Voice}, {"key_env", o.KeyEnv},
		} {
			if field.value != "" {
				section.Content = append(section.Content, text(field.key), text(field.value))
			}
		}
		file.Content = append(file.Content, text(o.Stage), section)
	}
	stages, err := yaml.Dump(file)
	if err != nil {
		return "", err
	}
	return header + kept(before) + string(stages), nil
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

// text returns a text, which is written in quotes where YAML would read it as something else.
func text(value string) *yaml.Node {
	var n yaml.Node
	n.SetString(value)
	return &n
}

// begins matches the first line of a section.
var begins = regexp.MustCompile(`^([A-Za-z_-]+)\s*:`)

// kept returns the lines of the sections of a file that are about no stage, with their comments inside.
func kept(before string) string {
	var lines []string
	keep := false
	for line := range strings.Lines(before) {
		if m := begins.FindStringSubmatch(line); m != nil {
			keep = !slices.Contains([]string{config.STT, config.LLM, config.TTS}, m[1])
		}
		if keep {
			lines = append(lines, strings.TrimRight(line, "\r\n")+"\n")
		}
	}
	return strings.Join(lines, "")
}

// Write writes the file. If there is one already, it becomes the backup whose path Write returns; "" for none. A file is never half written.
func Write(path, text string) (backup string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone if all went well
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return "", err
	}
	if backup, err = back(path); err != nil {
		return "", err
	}
	return backup, os.Rename(f.Name(), path)
}

// maxBackups is how many backups there can be.
const maxBackups = 1000

// back copies a file to the first name that is free: path.1.bak, path.2.bak and so on. It returns "" if there is no file.
func back(path string) (string, error) {
	before, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for i := range maxBackups {
		name := fmt.Sprintf("%s.%d.bak", path, i+1)
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // the file before it may name what others should not read
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(before)
		return name, errors.Join(err, f.Close())
	}
	return "", fmt.Errorf("there are %d backups of %s: remove some", maxBackups, path)
}
