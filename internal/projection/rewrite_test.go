package projection_test

// It defines -rewrite, so that one command rewrites the golden files of all machines: go test ./coord/... -args -rewrite
// must not end at the package that has none.
import _ "github.com/cockroachdb/datadriven"
