package ownprocess

// This test program starts itself again, as a stage does.

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/onsi/gomega"
)

const variable = "ANTIPHON_OWNPROCESS_TEST"

type places struct{ Model string }

func init() {
	Serve(variable, "engine", func(p places) error {
		if p.Model == "" {
			return errors.New("no model")
		}
		fmt.Print("it has ", p.Model)
		return nil
	})
}

// A process gets the places that hold when it starts.
func TestAProcessGetsThePlaces(t *testing.T) {
	g := gomega.NewWithT(t)
	model := "the first"
	command, err := Command(variable, func() places { return places{model} })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, model = range []string{"the first", "the second"} {
		out, err := command().Output()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(out)).To(gomega.Equal("it has " + model))
	}
}

// An engine reads what strangers say: its process gets the environment that programs need to run, and no keys.
func TestAProcessGetsNoKeys(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("LD_LIBRARY_PATH", "/opt/cuda")
	command, err := Command(variable, func() places { return places{} })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(command().Env).NotTo(gomega.ContainElement(gomega.ContainSubstring("sk-secret")))
	g.Expect(command().Env).To(gomega.ContainElement("LD_LIBRARY_PATH=/opt/cuda"))
}

// A process that fails says why, and never reaches the program's main.
func TestAProcessThatFails(t *testing.T) {
	g := gomega.NewWithT(t)
	command, err := Command(variable, func() places { return places{} })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, err := command().CombinedOutput()
	var exit *exec.ExitError
	g.Expect(errors.As(err, &exit)).To(gomega.BeTrue())
	g.Expect(exit.ExitCode()).To(gomega.Equal(1))
	g.Expect(string(out)).To(gomega.Equal("engine: no model\n"))
}

// Places that JSON cannot hold fail the start of the process.
func TestPlacesThatJSONCannotHold(t *testing.T) {
	g := gomega.NewWithT(t)
	command, err := Command(variable, func() any { return func() {} })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(command().Start()).To(gomega.MatchError(gomega.ContainSubstring("unsupported type")))
}
