package parse

// The tokens of a specification: their kinds, keywords and operators.

type kind uint8

const (
	tEOF kind = iota
	tNewline
	tIndent
	tDedent
	tName
	tKeyword
	tNumber
	tString
	tLabel
	tOp
	tBad // what no token begins with; text says what, want what was expected
)

// token is one word of a spec: src[start:end]. Line and col are those of its first character.
type token struct {
	kind       kind
	text       string
	want       string
	start, end int
	line, col  int
	match      int // of an opening bracket: the index of its closing one; of others 0
}

// keywords are the words that cannot be names: FizzBee's grammar reserves them everywhere, also after a dot,
// and load is reserved by Starlark, which runs the expressions.
var keywords = set(
	"def", "return", "raise", "from", "import", "nonlocal", "as", "global", "assert", "if", "elif", "else",
	"while", "for", "in", "try", "None", "finally", "with", "except", "lambda", "or", "and", "not", "is",
	"class", "yield", "del", "pass", "continue", "break", "async", "await", "print", "exec", "True", "False",
	"atomic", "serial", "parallel", "oneof", "any", "exists", "action", "func", "fair", "require", "params",
	"init", "role", "symmetric", "assertion", "invariants", "always", "eventually", "transition", "compose",
	"refine", "load",
)

// operators, the longer ones first, so that the first that fits is the one meant.
var operators = []string{
	"//=", "<<=", ">>=",
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
	"+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]", "{", "}", ".", ",", ":", ";", "=", "@",
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// is tells whether the token is the keyword or operator named.
func (t token) is(word string) bool {
	return (t.kind == tKeyword || t.kind == tOp) && t.text == word
}
