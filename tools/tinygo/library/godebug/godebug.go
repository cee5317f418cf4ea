// Package godebug has no settings: a web page has no environment that could hold them.
package godebug

// Setting is one that is not set.
type Setting struct{}

// New gives a setting that is not set.
func New(string) *Setting { return &Setting{} }

// Value is empty.
func (*Setting) Value() string { return "" }

// IncNonDefault counts nothing.
func (*Setting) IncNonDefault() {}
