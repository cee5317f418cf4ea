package env_test

// Ids and time-outs of the real machine.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
)

func TestNamesAreUniqueAndHaveTheirPrefix(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		name := env.System().NewID("item_")
		if !strings.HasPrefix(name, "item_") || len(name) != len("item_")+24 || seen[name] {
			t.Fatalf("name %q is malformed or was given twice", name)
		}
		seen[name] = true
	}
}

func TestATimeoutCancelsWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := errors.New("late")
		ctx, cancel := env.WithTimeout(env.System(), t.Context(), time.Second, late)
		defer cancel()
		<-ctx.Done()
		if context.Cause(ctx) != late { //nolint:errorlint // the very value
			t.Fatalf("cause is %v", context.Cause(ctx))
		}
	})
}

func TestACancelledTimeoutStopsItsTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := env.WithTimeout(env.System(), t.Context(), time.Second, errors.New("late"))
		cancel()
		<-ctx.Done()
		if context.Cause(ctx) != context.Canceled { //nolint:errorlint // the very value
			t.Fatalf("cause is %v", context.Cause(ctx))
		}
	})
}
