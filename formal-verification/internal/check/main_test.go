package check_test

import (
	"os"
	"testing"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

func TestMain(m *testing.M) {
	check.Main()
	os.Exit(m.Run())
}
