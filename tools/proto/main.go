// Proto makes the Go code of a .proto file, and its descriptor for programs in other languages, without protoc.
//
//	go run . FOLDER FILE.proto DESCRIPTORS
//
// The code is written beside FILE.proto in FOLDER, and the descriptors, a FileDescriptorSet, to the file DESCRIPTORS.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: proto FOLDER FILE.proto DESCRIPTORS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "proto:", err)
		os.Exit(1)
	}
}

func run(folder, name, descriptors string) error {
	c := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{folder}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), name)
	if err != nil {
		return err
	}
	file := protodesc.ToFileDescriptorProto(files[0])
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{name}, ProtoFile: []*descriptorpb.FileDescriptorProto{file}, Parameter: proto.String("paths=source_relative"),
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := generate(plugin, request, folder); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	bare := proto.CloneOf(file)
	bare.SourceCodeInfo = nil // the comments
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{bare}})
	if err != nil {
		return err
	}
	return os.WriteFile(descriptors, b, 0o644)
}

// generate runs a plugin of protoc, as the module's tool, and writes its files.
func generate(plugin string, request *pluginpb.CodeGeneratorRequest, folder string) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.File {
		if err := os.WriteFile(filepath.Join(folder, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
