package check_test

// TestMain: the test binary is also the child process that explores, and one that asks FizzBee's own liveness check.

import (
	"fmt"
	"io"
	"os"
	"testing"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/modelchecker"
	"google.golang.org/protobuf/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

// theirsMark in the environment makes the test binary a child that asks FizzBee's own liveness check.
const theirsMark = "ANTIPHON_CHECK_THEIRS"

func TestMain(m *testing.M) {
	check.Main()
	if os.Getenv(theirsMark) != "" {
		theirs()
	}
	_ = os.Unsetenv("EXPLORED_SPECS") // these tests explore themselves
	os.Exit(m.Run())
}

// theirs reads a spec and prints whether FizzBee says that it is live.
func theirs() {
	out := os.Stdout
	os.Stdout = os.Stderr
	text, err := io.ReadAll(os.Stdin)
	f := &ast.File{}
	if err == nil {
		err = proto.Unmarshal(text, f)
	}
	if err != nil {
		panic(err)
	}
	config, err := modelchecker.ReadOptionsFromYamlString(f.GetFrontMatter().GetYaml())
	if err != nil {
		panic(err)
	}
	p := modelchecker.NewProcessor([]*ast.File{f}, config, false, 1, "", "bfs", true, nil, nil, "")
	root, _, err := p.Start()
	if err != nil {
		panic(err)
	}
	nodes, _, _, _ := modelchecker.GetAllNodes(root, config.GetOptions().GetMaxActions())
	_, broken := modelchecker.CheckStrictLiveness(root, nodes)
	fmt.Fprint(out, broken == nil)
	os.Exit(0)
}
