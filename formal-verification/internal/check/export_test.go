package check

// Crashed and Tail are tested by themselves: a child cannot be made to crash at will.
var Crashed = crashed

// Tail keeps the last words of a child.
type Tail = tail

// NewTail keeps as many bytes.
func NewTail(limit int) *Tail { return &tail{limit: limit} }
