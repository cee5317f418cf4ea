package trace

// Checks the events and effects of a whole session in a trace, and that no change passes.

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestComposedRefusesNoEvents: a log without the events that the session took is refused.
func TestComposedRefusesNoEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	steps := slices.DeleteFunc(lines(g), func(l string) bool { return strings.Contains(l, `"took"`) || strings.Contains(l, `"performed"`) })
	g.Expect(refused(steps)).To(gomega.MatchError(gomega.ContainSubstring("no event led to this step")))
}

// TestEveryPerformedEffect: no effect can be performed twice, out of order or not at all, and no event can be left out, unseen.
func TestEveryPerformedEffect(t *testing.T) {
	g := gomega.NewWithT(t)
	all := lines(g)
	performed, taken := 0, 0
	for i, text := range all {
		var l line
		g.Expect(json.Unmarshal([]byte(text), &l)).To(gomega.Succeed())
		switch {
		case l.Performed != nil:
			performed++
			g.Expect(refused(slices.Insert(slices.Clone(all), i, text))).NotTo(gomega.Succeed(), "doubled: "+text)
			if strings.Contains(all[i-1], `"session":"`+l.Session+`","performed"`) {
				swapped := slices.Clone(all)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				g.Expect(refused(swapped)).NotTo(gomega.Succeed(), "swapped: "+text)
			}
		case l.Took != nil && l.Took.Of == "settings": // this one gives the settings that the session has
			continue
		case l.Took != nil:
			taken++
		default:
			continue
		}
		g.Expect(refused(slices.Delete(slices.Clone(all), i, i+1))).NotTo(gomega.Succeed(), "left out: "+text)
	}
	g.Expect(performed).To(gomega.BeNumerically(">", 40))
	g.Expect(taken).To(gomega.BeNumerically(">", 20))
}

// TestComposedMutated has lines of a whole session that a server never wrote.
func TestComposedMutated(t *testing.T) {
	for _, c := range []struct {
		name, line, old, by, want string
	}{
		{"an event of another machine", `"took":{"of":"conn","name":"Opened"`, `"of":"conn"`, `"of":"turn"`, "this machine has no Opened"},
		{"an event of no machine", `"took":{"of":"conn","name":"Opened"`, `"of":"conn"`, `"of":"ear"`, "there is no machine ear"},
		{"another value", `"took":{"of":"conn","name":"Opened"`, `"VAD":true`, `"VAD":false`, "the composition has the conn take Opened here"},
		{"settings that nobody gave", `"took":{"of":"turn","name":"Onset"`, `"Interrupt":true`, `"Interrupt":false`, "nothing changed them"},
		{"no settings", `"took":{"of":"turn","name":"Onset"`, `"config":{`, `"configs":{`, "it is no line of a trace"},
		{"an effect of another machine", `"performed":{"of":"conn","name":"StartVAD"`, `"of":"conn"`, `"of":"turn"`, "this machine has no StartVAD"},
		{"another effect", `"performed":{"of":"conn","name":"StartVAD"`, "StartVAD", "StopVAD", "it performs StopVAD, where StartVAD of Opened is due"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			all := lines(g)
			i := slices.IndexFunc(all, func(l string) bool { return strings.Contains(l, c.line) })
			g.Expect(i).To(gomega.BeNumerically(">=", 0))
			all[i] = strings.Replace(all[i], c.old, c.by, 1)
			g.Expect(refused(all)).To(gomega.MatchError(gomega.ContainSubstring(c.want)))
		})
	}
}

// TestRefusedCommit: a client's commit that the server refuses says nothing about the next turn that is committed.
func TestRefusedCommit(t *testing.T) {
	for name, answer := range map[string]string{
		"with an id":    `{"type":"error","error":{"code":"input_audio_buffer_commit_empty","event_id":"c1"}}`,
		"without an id": `{"type":"error","error":{"code":"input_audio_buffer_commit_empty"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			commit := `{"type":"input_audio_buffer.commit"}`
			if name == "with an id" {
				commit = `{"type":"input_audio_buffer.commit","event_id":"c1"}`
			}
			c := newListener()
			g.Expect(c.hear(&recordLine{Dir: "client", Event: json.RawMessage(commit)})).To(gomega.BeEmpty())
			g.Expect(c.commits).To(gomega.BeTrue())
			g.Expect(c.hear(&recordLine{Dir: "server", Event: json.RawMessage(`{"type":"error","error":{"event_id":"another"}}`)})).To(gomega.BeEmpty())
			g.Expect(c.commits).To(gomega.BeTrue())
			g.Expect(c.hear(&recordLine{Dir: "server", Event: json.RawMessage(answer)})).To(gomega.BeEmpty())
			g.Expect(c.commits).To(gomega.BeFalse())
		})
	}
}

// TestDeletedTurn: a committed turn whose item the server deletes by itself gets no answer. An item that the client has deleted says nothing of its turn.
func TestDeletedTurn(t *testing.T) {
	for name, asked := range map[string]bool{"by the server": false, "by the client": true} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := newListener()
			hear := func(dir, event string) {
				g.Expect(c.hear(&recordLine{Dir: dir, Event: json.RawMessage(event)})).To(gomega.BeEmpty())
			}
			hear("server", `{"type":"session.created","session":{"type":"realtime","audio":{"input":{"turn_detection":{"create_response":true}}}}}`)
			hear("server", `{"type":"input_audio_buffer.committed","item_id":"i"}`)
			g.Expect(c.state).To(gomega.HaveField("Waiting", gomega.BeEquivalentTo(1)))
			if asked {
				hear("client", `{"type":"conversation.item.delete","item_id":"i"}`)
			}
			hear("server", `{"type":"conversation.item.deleted","item_id":"i"}`)
			c.refused()
			waiting := map[bool]int{true: 1, false: 0}[asked]
			g.Expect(c.state).To(gomega.HaveField("Waiting", gomega.BeEquivalentTo(waiting)))
		})
	}
}
