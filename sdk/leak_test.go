//go:build !js

package sdk

import (
	"testing"

	"go.uber.org/goleak"
)

// Under js the runtime has goroutines of its own for the events of JavaScript, so leaks are looked for natively.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
