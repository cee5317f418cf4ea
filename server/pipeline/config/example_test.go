package config_test

import (
	"context"
	"fmt"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// The pipeline of a file, for server.Config.Pipeline. config.Load reads the file from a disk.
func Example() {
	file, err := config.Parse("antiphon.yaml", []byte("llm: {kind: assistant}\ntts: {kind: scripted}\n"), nil)
	if err != nil {
		fmt.Println(err) // all mistakes of the file, with their lines
		return
	}
	p, err := file.Pipeline(context.Background(), config.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }() // nothing is running
	for _, c := range p.Components() {
		fmt.Println(c.Stage, c.Name)
	}
	// Output:
	// transcriber sherpa
	// model assistant
	// synthesizer scripted
}
