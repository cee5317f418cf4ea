package check

// The request that the parent process writes to the child, and the answer that the child writes back.

import (
	"encoding/gob"
	"fmt"
	"io"

	ast "fizz/proto"
	"google.golang.org/protobuf/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// request is what the parent sends to the child.
type request struct {
	File    []byte // the spec as a binary ast.File
	Options Options
}

// The reasons why a child has no result, as text for the pipe.
const (
	faultSpec   = "spec"
	faultMemory = "memory"
)

// answer is what the child has found. The parent decides the verdict.
type answer struct {
	Fault, Message string

	Nodes, States     int
	MaxActionsReached bool
	DeadlockDetection bool
	LivenessOff       bool
	// Complete says that exploration did not end at a failure.
	Complete bool
	// FailedAssertion indexes the checked assertions; -1: none.
	FailedAssertion int
	// Deadlock says that a run can end where nothing more is possible. Stuck is the node at which it ends; -1 if the run ends
	// in the middle of an action, where there is no node.
	Deadlock bool
	Stuck    int
	// Path leads to FailedAssertion's node.
	Path []graph.Step
	// Graph is whole when Complete.
	Graph graph.Graph
	// Witness[a] marks the nodes where the body of assertion a holds, for those that need it.
	Witness map[int][]bool
	// BrokenSteps has for a transition assertion an edge that breaks it, where one was found only by looking at whole steps.
	BrokenSteps map[int]int
	// Checked are the positions in the file of the assertions that were checked.
	Checked []int
}

func writeRequest(w io.Writer, f *ast.File, o Options) error {
	file, err := proto.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	return gob.NewEncoder(w).Encode(request{File: file, Options: o})
}

func readRequest(r io.Reader) (*ast.File, Options, error) {
	var req request
	if err := gob.NewDecoder(r).Decode(&req); err != nil {
		return nil, Options{}, fmt.Errorf("decode the request: %w", err)
	}
	f := &ast.File{}
	if err := proto.Unmarshal(req.File, f); err != nil {
		return nil, Options{}, fmt.Errorf("decode the spec: %w", err)
	}
	return f, req.Options, nil
}
