package check_test

// Tests of what the parent process reports when a child crashes.

import (
	"errors"
	"fmt"
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

func TestACrashIsExplainedByItsLastWords(t *testing.T) {
	g := NewWithT(t)
	said := check.NewTail(20)
	for i := range 100 {
		_, err := fmt.Fprintf(said, "line %d\n", i)
		g.Expect(err).NotTo(HaveOccurred())
	}
	killed := errors.New("signal: killed")
	err := check.Crashed(nil, killed, io.EOF, said.String())
	g.Expect(err).To(And(MatchError(check.ErrCrashed), MatchError(killed)))
	g.Expect(err.Error()).To(HaveSuffix("it said last:\n97\nline 98\nline 99"))
	g.Expect(check.Crashed(nil, nil, io.EOF, "")).To(MatchError(io.EOF), "an answer cut short")
}
