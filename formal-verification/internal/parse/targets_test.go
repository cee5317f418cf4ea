package parse_test

// Tests of the check of assignments.

import (
	"testing"

	ast "fizz/proto"
	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

func parsed(t *testing.T, src string) *ast.File {
	t.Helper()
	f, err := parse.File("door.fizz", []byte(src))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return f
}

func TestTargets(t *testing.T) {
	const door = "LIMIT = 3\naction Init:\n    state, timers = \"Idle\", []\n    count = len(timers)\n    ready = oneof [True, False]\n    any e in [1, 2]:\n        count = e\n"
	tests := []struct{ name, body, want string }{
		{"a state variable", "state = 1", ""},
		{"one that Init got from a call", "count = 1", ""},
		{"one that Init chose", "ready = oneof [True]", ""},
		{"several at once", "state, count = 1, 2", ""},
		{"an element", "timers[0] = 1", ""},
		{"a loop's variable", "for i in timers: i = 1", ""},
		{"a block's choice", "any i in timers: i = 1", ""},
		{"a local that is read", "old = state\n    if old: pass", ""},
		{"a local that grows and is read", "n = 0\n    n += 1\n    state = n", ""},
		{"an element of a list, named after it", "timer = timers.pop()\n    state = timer", ""},
		{"misspelt", "sate = 1", "9:5: sate in action Go is no variable of the spec, and nothing here reads it (is state meant?)"},
		{"in capitals", "State = 1", "9:5: State in action Go is no variable of the spec, and nothing here reads it (is state meant?)"},
		{"misspelt in a block", "if state:\n        sate = 1", "10:9: sate in action Go is no variable of the spec, and nothing here reads it (is state meant?)"},
		{"misspelt among several", "count, sate = 1, 2", "9:5: sate in action Go is no variable of the spec, and nothing here reads it (is state meant?)"},
		{"misspelt and read", "stat = 1\n    count = stat", "9:5: stat in action Go is a new local (is state meant?)"},
		{"misspelt result of a call", "cuont = len(timers)", "9:5: cuont in action Go is no variable of the spec, and nothing here reads it (is count meant?)"},
		{"misspelt choice", "raedy = oneof timers if raedy", "9:5: raedy in action Go is no variable of the spec, and nothing here reads it (is ready meant?)"},
		{"misspelt and increased", "cont += 1", "9:5: cont in action Go is no variable of the spec (is count meant?)"},
		{"the variable of a choice in Init", "e = 1", "9:5: e in action Go is no variable of the spec, and nothing here reads it"},
		{"read as an attribute and a keyword only", "x = 1\n    y(x=timers.x)", "9:5: x in action Go is no variable of the spec, and nothing here reads it"},
		{"a constant", "LIMIT = 4", "9:5: LIMIT in action Go is a constant: the checker drops the assignment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			problems := parse.Targets(parsed(t, door+"atomic action Go:\n    "+tt.body+"\n"))
			if tt.want == "" {
				g.Expect(problems).To(BeEmpty())
				return
			}
			g.Expect(problems).To(HaveLen(1))
			g.Expect(problems[0].String()).To(Equal(tt.want))
		})
	}
}

func TestTargetsInFuncsAndRoles(t *testing.T) {
	g := NewWithT(t)
	problems := parse.Targets(parsed(t, `
action Init:
    total = 0
func add(n):
    n = n + 1
    totol = n
role Door:
    action Init:
        if total:
            self.opened = False
    action Open:
        self.open = True
        self.opened = True
        total.sum = 1
    func close(by):
        by = 1
        self.opend = by
`))
	g.Expect(problems).To(HaveLen(3))
	g.Expect(problems[0].String()).To(Equal("6:5: totol in func add is no variable of the spec, and nothing here reads it (is total meant?)"))
	g.Expect(problems[1].String()).To(Equal("12:9: self.open in action Door.Open is no attribute that the role's Init sets"))
	g.Expect(problems[2].String()).To(Equal("17:9: self.opend in func Door.close is no attribute that the role's Init sets (is opened meant?)"))
}
