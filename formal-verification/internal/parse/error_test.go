package parse_test

// Tests of the errors of the parser and their positions.

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// in is a statement in an action: its first character is in line 2, column 5.
func in(stmt string) string { return "atomic action Go:\n    " + stmt + "\n" }

var refused = []struct{ name, src, want string }{
	// what the original repairs or overlooks
	{"a misspelt assertion", "always asertion A:\n    return x\n", "1:8: found the name asertion, expected assertion"},
	{"a misspelt operator", "alway assertion A:\n    return x\n", "1:7: found assertion, which is a reserved word, expected an expression"},
	{"a misspelt require", in("requires x > 1"), "2:15: found what Starlark refuses (got identifier, want newline), expected an expression that it takes"},
	{"a misspelt action", "atomic acton Go:\n    pass\n", "1:8: found the name acton, expected action, fair or func"},
	{"fair before atomic", "fair atomic action Go:\n    pass\n", "1:6: found the keyword atomic, expected action (the order is: atomic fair action)"},
	{"a fair func", "fair func f():\n    pass\n", "1:6: found the keyword func, expected action (the order is: atomic fair action)"},
	{"an unknown fairness", "fair<very> action Go:\n    pass\n", "1:6: found the fairness very, expected weak or strong"},
	{"a comparison for an assignment", in("x == 1"), "2:5: found an expression without an effect, expected an assignment, a call or another statement"},
	{"a choice that looks like a call", in("x = any(y)"), "2:9: found any(, expected oneof for a choice, or brackets around a call of any, which FizzBee takes for a choice here"},
	{"a fair block", in("fair any x in y: pass"), "2:5: found the keyword fair, expected a statement (fairness goes with an assignment: x = fair oneof ...)"},
	{"a second action of a name", "action A:\n    pass\naction B:\n    pass\naction A:\n    pass\n", "5:1: found a second definition of A, expected one: the first is in line 1"},
	{"a second assertion of a name", "always assertion A:\n    return x\nexists assertion A:\n    return x\n", "3:1: found a second definition of A, expected one: the first is in line 1"},
	{"a second action of a name in a role", "role R:\n    action A:\n        pass\n    func A():\n        pass\n", "4:5: found a second definition of A, expected one: the first is in line 2"},
	{"a second function of a name", "def f():\n    return 1\nx = 1\nfunc f():\n    pass\n", "4:1: found a second definition of f, expected one: the first is in line 1"},
	{"a second Init", "action Init:\n    x = 1\naction Init:\n    x = 2\n", "3:1: found a second definition of Init, expected one: the first is in line 1"},
	{"a second parameter of a name", "func f(a, a):\n    pass\n", "1:11: found a second definition of a, expected one: the first is in line 1"},
	{"a block in a block", in("if x:\n        atomic:\n            serial:\n                y = 1"), "3:9: found atomic: with nothing but another such block in it, expected one of them: FizzBee loses the inner one's flow"},
	{"a label that would be lost", in("`a` atomic: x = 1"), "1:18: found a label on a block that is alone in its block, expected it on a statement: FizzBee loses it here"},

	// assertions
	{"no operator", "assertion A:\n    return x\n", "1:1: found an assertion without an operator, expected always, exists, transition, always eventually or eventually always"},
	{"operators that nothing decides", "always exists assertion A:\n    return x\n", "1:1: found the operators always exists, expected always, exists, transition, always eventually or eventually always"},
	{"parameters of an always", "always assertion A(x):\n    return x\n", "1:19: found 1 parameters, expected none, or two for a transition: the states before and after"},
	{"one parameter of a transition", "transition assertion A(x):\n    return x\n", "1:23: found 1 parameters, expected none, or two for a transition: the states before and after"},
	{"no name", "always assertion:\n    return x\n", "1:17: found :, expected the assertion's name"},

	// blocks
	{"no colon", "action Go\n    pass\n", "1:10: found the end of the line, expected :"},
	{"no block", "action Go:\npass\n", "2:1: found the keyword pass, expected an indented block"},
	{"no block at the end", "action Go:\n", "2:1: found the end of the file, expected an indented block"},
	{"only a comment in quotes", in("'''why'''"), "1:18: found a block without a statement, expected one, if only pass"},
	{"indented by a tab", "action Go:\n\tpass\n", "2:1: found a tab in the indentation, expected spaces"},
	{"indented by too much", in("x = 1\n      y = 1"), "3:7: found a deeper indentation, expected a statement as far in as the one before it"},
	{"indented by too little", in("if x:\n        y = 1\n      z = 1"), "4:7: found an indentation of 6, expected one of 4, as in the block around it"},
	{"indented outside", "  x = 1\n", "1:3: found a deeper indentation, expected no indentation here"},
	{"else without if", in("else: pass"), "2:5: found the keyword else, expected a statement (its if must stand right before it, with the same indentation)"},
	{"break outside of loops", in("break"), "2:5: found the keyword break, expected it in a loop only"},
	{"continue after a loop", in("for i in x: pass\n    continue"), "3:5: found the keyword continue, expected it in a loop only"},
	{"two statements in a line", in("x = 1; y = 2"), "2:10: found ;, expected one statement in a line"},
	{"a func in an action", in("atomic func f(): pass"), "2:12: found the keyword func, expected : behind atomic (actions and functions cannot stand in a block)"},
	{"a parallel while", in("parallel while x: pass"), "2:14: found the keyword while, expected : or a loop that may be parallel"},
	{"two variables of a loop", in("for a, b in x: pass"), "2:10: found ,, expected in"},
	{"an attribute as a choice", in("self.x = oneof y"), "2:14: found oneof, which is a reserved word, expected an expression"},
	{"a label before nothing", in("`a`"), "3:1: found the end of the block, expected the statement that the label is for"},
	{"a label on a comment", in("`a`\n    '''b'''"), "2:5: found a label on a comment, expected one on a statement"},
	{"two labels", in("`a` `b` x = 1"), "2:9: found the label `b`, expected the statement that the label is for"},
	{"a label behind a colon", in("if x: `a` y = 1"), "2:11: found the label `a`, expected an expression"},
	{"an open label", in("`a"), "2:5: found `, expected a label and its closing ` in this line, without a backslash"},
	{"an empty label", in("`` x = 1"), "2:5: found an empty label, expected a name between the backticks"},

	// outside of actions
	{"the old init", "init:\n    x = 1\n", "1:1: found init, which FizzBee has given up, expected action Init, or assertions with names"},
	{"an import", "import math\n", "1:1: found import, which the checker cannot run, expected a spec in one file"},
	{"a loop", "for i in x: pass\n", "1:1: found the keyword for, expected an action, func, def, role, assertion, or a constant"},
	{"a choice", "x = oneof [1]\n", "1:1: found a choice outside of all actions, expected it in action Init"},
	{"a label", "`a` x = 1\n", "1:1: found the label `a`, expected labels in actions and functions only"},
	{"a variable in a role", "role R:\n    x = 1\n", "2:5: found the name x, expected an action, func, def or assertion of the role (its state is set in its action Init)"},
	{"a role in one line", "role R: pass\n", "1:9: found the keyword pass, expected the end of the line"},
	{"a composition in one line", "compose: a\n", "1:10: found the name a, expected the end of the line"},
	{"a decorated action", "@state\naction A:\n    pass\n", "2:1: found the keyword action, expected role"},
	{"two compositions", "compose:\n    a: 1\ncompose:\n    a: 1\n", "3:1: found the keyword compose, expected one compose in a file"},
	{"a parameter with a star", "func f(*a):\n    pass\n", "1:8: found *, expected a parameter's name or )"},
	{"a parameter with a type", "func f(a: int):\n    pass\n", "1:9: found :, expected a comma or )"},
	{"options that never end", "\n---\nx: 1\n", "2:1: found options that never end, expected --- in a line of its own behind them"},
	{"options that end too early", "---\n# ---\n---\n", "2:3: found --- within a line of the options, expected it alone in its line"},
	{"options in the middle", "x = 1\n---\ny: 1\n---\n", "2:4: found what Starlark refuses (got end of file, want primary expression), expected an expression that it takes"},

	// Python functions
	{"while in a function", "def f():\n    while x: pass\n", "2:5: found while, which is a reserved word, expected an expression"},
	{"require in a function", "def f():\n    require x\n", "2:5: found require, which is a reserved word, expected an expression"},
	{"a parameter twice", "def f(a, a):\n    pass\n", "1:10: found what Starlark refuses (duplicate parameter: a), expected an expression that it takes"},

	// expressions
	{"nothing to assign", in("x ="), "2:8: found what Starlark refuses (got end of file, want primary expression), expected an expression that it takes"},
	{"a dangling operator", in("x = 1 +"), "2:12: found what Starlark refuses (got end of file, want primary expression), expected an expression that it takes"},
	{"two expressions", in("x = a b"), "2:12: found what Starlark refuses (got identifier, want newline), expected an expression that it takes"},
	{"a chained assignment", in("x = y = 1"), "2:12: found what Starlark refuses (got '=', want newline), expected an expression that it takes"},
	{"a chained comparison", in("x = 1 < y < 2"), "2:16: found what Starlark refuses (< does not associate with < (use parens)), expected an expression that it takes"},
	{"assigning to a call", in("f(x) = 1"), "2:5: found what Starlark refuses (can't assign to callexpr), expected an expression that it takes"},
	{"assigning to a slice", in("x[1:] = 1"), "2:5: found what Starlark refuses (can't assign to sliceexpr), expected an expression that it takes"},
	{"adding to several", in("x, y += 1"), "2:5: found what Starlark refuses (can't use tuple expression in augmented assignment), expected an expression that it takes"},
	{"no else", in("x = 1 if y"), "2:11: found what Starlark refuses (conditional expression without else clause), expected an expression that it takes"},
	{"a set", in("x = {1, 2}"), "2:12: found what Starlark refuses (got ',', want ':'), expected an expression that it takes"},
	{"a power", in("x = 2 ** 3"), "2:13: found what Starlark refuses (got '**', want newline), expected an expression that it takes"},
	{"is", in("x = y is None"), "2:11: found is, which is a reserved word, expected an expression"},
	{"a keyword as a name", in("x = role"), "2:9: found role, which is a reserved word, expected an expression"},
	{"a keyword as an attribute", in("x = y.action"), "2:11: found action, which is a reserved word, expected an expression"},
	{"a keyword as a parameter", "func f(any):\n    pass\n", "1:8: found any, which is a reserved word, expected a parameter's name or )"},
	{"any without a call", in("x = [any]"), "2:10: found any, which is a reserved word, expected an expression"},
	{"a generator", in("f(x for x in y)"), "2:12: found what Starlark refuses (got for, want ','), expected an expression that it takes"},
	{"a positional argument behind a named one", in("f(a=1, 2)"), "2:12: found what Starlark refuses (positional argument may not follow named), expected an expression that it takes"},
	{"an unknown escape", in(`x = "\d"`), `2:9: found what Starlark refuses (invalid escape sequence \d), expected an expression that it takes`},
	{"strings side by side", in("x = 'a' 'b'"), "2:16: found what Starlark refuses (got string literal, want newline), expected an expression that it takes"},
	{"a comment in quotes with one of them", in("'why'"), "2:5: found the string 'why', expected a statement (a comment in quotes has three of them)"},
	{"a string over two lines", in("x = 'a\\\nb'"), "2:9: found a line end in a string, expected '"},
	{"a long string out of place", in("x = 1 '" + strings.Repeat("a", 50) + "'"), "2:63: found what Starlark refuses (got string literal, want newline), expected an expression that it takes"},
	{"an f-string", in("x = f'a'"), "2:13: found what Starlark refuses (got string literal, want newline), expected an expression that it takes"},
	{"an open string", in("x = 'a"), "2:9: found a string that is still open at the end of the line, expected '"},
	{"an open long string", in("x = '''a"), "2:9: found a string that is still open at the end of the file, expected '''"},
	{"an open bracket", in("x = (1,"), "3:1: found the end of the file, expected the closing bracket of ( in line 2"},
	{"a bracket that closes nothing", in("x = 1)"), "2:10: found ), expected its opening bracket before it"},
	{"another bracket", in("x = (1,\n  2]"), "3:4: found ], expected ), which closes ( in line 2"},
	{"a number with letters", in("x = 12ab"), "2:13: found what Starlark refuses (got identifier, want newline), expected an expression that it takes"},
	{"a number with leading zeros", in("x = 007"), "2:12: found what Starlark refuses (obsolete form of octal literal; use 0o07), expected an expression that it takes"},
	{"an unknown character", in("x = 1 ? 2"), "2:11: found the character '?', expected a name, a number, a string or an operator"},
	{"a letter that looks like another", in("stаte = 1"), "2:7: found the character 'а', expected a name, a number, a string or an operator"},
	{"a control character", in("x = 1\x00"), "2:10: found the byte 0x00, expected text in UTF-8 without control characters"},
	{"no UTF-8", in("x = 'ä\xff'"), "2:11: found the byte 0xff, expected text in UTF-8 without control characters"},

	// limits
	{"brackets too deep", in("x = " + strings.Repeat("(", 65) + strings.Repeat(")", 65)), "2:72: found (, expected at most 64 operators in a row"},
	{"operators too deep", in("x = " + strings.Repeat("-", 65) + "1"), "2:72: found -, expected at most 64 operators in a row"},
	{"blocks too deep", nested(70), "65:70: found the end of the line, expected at most 64 levels in one another"},
	{"a spec too long", strings.Repeat("#", 1<<20+1), "1:1: found 1048577 bytes, expected at most 1048576"},
}

func nested(n int) string {
	var b strings.Builder
	b.WriteString("action Go:\n")
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "if x:\n")
	}
	return b.String() + strings.Repeat(" ", n+1) + "pass\n"
}

func TestWhatIsNoSpecIsRefusedWithItsPlace(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			f, err := parse.File("door.fizz", []byte(tt.src))
			g.Expect(f).To(BeNil())
			g.Expect(err).To(MatchError("door.fizz:" + tt.want))
			var e *parse.Error
			g.Expect(err).To(BeAssignableToTypeOf(e))
		})
	}
}
