// Command setup generates the Go code of FizzBee's protocol buffers, which its
// module uses and does not contain, as the module "fizz" in .gen/fizz beside the
// go.mod that is its only argument and names the versions. It is pure Go: the
// compiler is protocompile, the generator is that of google.golang.org/protobuf. It
// is a module of its own because the one that needs its result does not load without it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	fizzbee  = "github.com/fizzbee-io/fizzbee"
	protobuf = "google.golang.org/protobuf"
	goMod    = `module fizz

go 1.26.0

require google.golang.org/protobuf %s
`
)

var sources = []string{
	"proto/fizz_ast.proto", "proto/graph.proto", "proto/performance_model.proto", "proto/statespace_options.proto",
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: setup GO.MOD"))
	}
	if err := run(os.Args[1]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "setup of the checker:", err)
	os.Exit(1)
}

// run generates beside the go.mod, unless what is there is of the same versions.
func run(mod string) error {
	version, err := required(mod)
	if err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(mod), ".gen", "fizz")
	stamp := version[fizzbee] + " " + version[protobuf]
	if was, err := os.ReadFile(filepath.Join(folder, "stamp")); err == nil && string(was) == stamp {
		return nil
	}
	var checker struct{ Dir, Error string }
	if err := ask(&checker, "mod", "download", "-json", fizzbee+"@"+version[fizzbee]); err != nil {
		return fmt.Errorf("download FizzBee: %w %s", err, checker.Error)
	}
	files, err := compile(checker.Dir)
	if err != nil {
		return err
	}
	if err := generate(files, folder); err != nil {
		return err
	}
	if err := write(folder, "go.mod", fmt.Sprintf(goMod, version[protobuf])); err != nil {
		return err
	}
	return write(folder, "stamp", stamp)
}

// required gives the versions that a go.mod requires, by module.
func required(mod string) (map[string]string, error) {
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := ask(&file, "mod", "edit", "-json", mod); err != nil {
		return nil, fmt.Errorf("read %s: %w", mod, err)
	}
	out := map[string]string{}
	for _, r := range file.Require {
		out[r.Path] = r.Version
	}
	for _, path := range []string{fizzbee, protobuf} {
		if out[path] == "" {
			return nil, fmt.Errorf("%s does not require %s", mod, path)
		}
	}
	return out, nil
}

// ask runs the go command and reads the JSON that it prints.
func ask(answer any, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if wrong := json.Unmarshal(out, answer); err == nil {
		err = wrong
	}
	return err
}

// compile gives the descriptors of the sources in dir, each after what it imports.
func compile(dir string) ([]*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoNone,
	}
	linked, err := compiler.Compile(context.Background(), sources...)
	if err != nil {
		return nil, fmt.Errorf("compile FizzBee's protocol buffers: %w", err)
	}
	var out []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(linker.File)
	add = func(f linker.File) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.FindImportByPath(f.Imports().Get(i).Path()))
		}
		out = append(out, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range linked {
		add(f)
	}
	return out, nil
}

// generate writes a Go file for each of the sources.
func generate(files []*descriptorpb.FileDescriptorProto, folder string) error {
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: slices.Clone(sources),
		Parameter:      proto.String("module=fizz"),
		ProtoFile:      files,
	})
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	for _, f := range plugin.Files {
		if f.Generate {
			internal_gengo.GenerateFile(plugin, f)
		}
	}
	response := plugin.Response()
	if response.Error != nil {
		return fmt.Errorf("generate: %s", response.GetError())
	}
	for _, f := range response.File {
		if err := write(folder, f.GetName(), f.GetContent()); err != nil {
			return err
		}
	}
	return nil
}

func write(folder, name, content string) error {
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}
