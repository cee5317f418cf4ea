package house

// tools/house/budgets.txt and scripts/test.sh have the same steps.

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestEachStepHasABudget: each step of make test has a budget of minutes, and each budget is that of a step.
func TestEachStepHasABudget(t *testing.T) {
	g := gomega.NewWithT(t)
	var steps, budgets []string
	for _, m := range regexp.MustCompile(`(?m)^(?:first|realtime|computing|last)=\(([a-z0-9 -]+)\)$`).FindAllSubmatch(read(t, "scripts/test.sh"), -1) {
		steps = append(steps, strings.Fields(string(m[1]))...)
	}
	for _, m := range regexp.MustCompile(`(?m)^step +([a-z0-9-]+) +[0-9]+(?:\.[0-9]+)?$`).FindAllSubmatch(read(t, "tools/house/budgets.txt"), -1) {
		budgets = append(budgets, string(m[1]))
	}
	g.Expect(steps).NotTo(gomega.BeEmpty())
	g.Expect(budgets).To(gomega.ConsistOf(steps))
}

// The first steps put into the folder what all others need, so that they are run even if they have passed for the same content in
// another folder.
func TestTheFirstStepsAreAlwaysRun(t *testing.T) {
	g := gomega.NewWithT(t)
	script := string(read(t, "scripts/test.sh"))
	first := regexp.MustCompile(`(?m)^first=\(([a-z0-9 -]+)\)$`).FindStringSubmatch(script)
	g.Expect(first).NotTo(gomega.BeNil())
	g.Expect(script).To(gomega.ContainSubstring("\t" + strings.ReplaceAll(first[1], " ", " | ") + ") ;;\n"))
}

// TestClusterFetchesNoModels: make cluster runs neither the script that fetches models nor the command for it. Three servers use the voices of this machine.
func TestClusterFetchesNoModels(t *testing.T) {
	g := gomega.NewWithT(t)
	made := exec.Command("make", "-n", "cluster", "MODELS=neural-en")
	made.Dir = "../.."
	commands, err := made.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", commands)
	g.Expect(string(commands)).To(gomega.ContainSubstring("scripts/setup.sh cluster"))
	scripts := regexp.MustCompile(`scripts/[a-z-]+\.sh`).FindAllString(string(commands), -1)
	g.Expect(scripts).To(gomega.ConsistOf("scripts/setup.sh", "scripts/cluster.sh"))
	for _, script := range append(scripts, "scripts/build.sh") {
		text := strings.Replace(string(read(t, script)), `[ "$mode" != test ] || scripts/models.sh`, "", 1)
		g.Expect(text).NotTo(gomega.MatchRegexp(`models get|models\.sh|talk\.sh`), script)
	}
}
