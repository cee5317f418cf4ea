//go:build !js

package sdk

// The check that no goroutine outlives the tests.

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a test leaves a goroutine running. It is not built for js, where the runtime itself has goroutines for the
// events of JavaScript.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
