package coordtest

// The page docs/machines.md: one diagram for each machine, drawn from its table.

import (
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/compaction"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	clientview "github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/coord/voicegate"
)

//go:generate go test -run ^TestMachinesPage$ . -args -rewrite

const pageHead = `# The machines

This page has a diagram of each machine. ` + "`docs/architecture.md`" + ` says which package and which driver a machine has. ` + "`go generate ./coord/...`" + ` writes the page from
the tables: do not edit it.

An arrow goes from the state before an event to the state after it. The arrow's label has the event, a condition in brackets, and behind the slash
the name of the action in the specification. If several arrows of a state have the same event, the first one whose condition holds applies. A condition such as
` + "`[same turn]`" + ` says that event and state have the same number; the machine ignores an event with another one. If the machine
ignores an event in a state, the diagram has no arrow.
`

// drawn is one machine on the page.
type drawn struct{ name, decides, diagram string }

// TestMachinesPage compares docs/machines.md with the tables.
func TestMachinesPage(t *testing.T) {
	between, err := os.ReadFile("../../coord/session/testdata/diagram.txt")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	_, flow, _ := strings.Cut(string(between), "----\n")
	page := pageHead
	for _, m := range []drawn{
		{"conn", "It decides in which state the connection of a session is: Connecting, Live, Interrupted, Closing or Closed.", conn.Table.Mermaid(conn.Connecting{})},
		{"turn", "It decides when the user's turn opens, and when it is committed or dropped. If the agent is audible, the user's speech is at first a candidate. The *gate* here is the confirmation gate.", turn.Table.Mermaid(turn.Idle{})},
		{"response", "It decides which response is live, and for which response the model works (its *body* runs). At most one response is live, and at most one body runs.", response.Table.Mermaid(response.Idle{})},
		{"generation", "It decides when the body of one response begins and how that response ends.", generation.Table.Mermaid(generation.Announced{})},
		{"draft", "It decides when the server begins an answer before the end of a turn is certain, and what becomes of that answer.", draft.Table.Mermaid(draft.Idle{})},
		{"voicegate", "It decides whether the speech of one turn may reach the model.", voicegate.Table.Mermaid(voicegate.Waiting{})},
		{"playout", "It decides whether the audio of a response plays, is held, goes on from an earlier position, or is cut. Missed: the network has lost audio that was sent. Ready, Heard: reports of the client.", playout.Table.Mermaid(playout.Silent{})},
		{"transcription", "It decides what becomes of the recogniser's stream of one turn.", transcription.Table.Mermaid(transcription.Closed{})},
		{"synthesis", "It decides which clauses of one response the synthesizer gets, and when it gets no more. A new machine in the state Open begins with the body of each response.", synthesis.Table.Mermaid(synthesis.Open{})},
		{"bargein", "It runs in the client. It decides when the client ducks, silences, restores or mutes playback, and what it tells the server.", bargein.Table.Mermaid(bargein.Silent{})},
		{"view", "It runs in the client. It decides what the client shows of the session from the server's events (Opened to Ended) and the user's actions (Candidate to Clear).", clientview.Table.Mermaid(clientview.Closed{})},
		{"compaction", "It decides when a long conversation is summarised. One summary is made at a time.", compaction.Table.Mermaid(compaction.Idle{})},
		{"run", "It decides when a *run* waits, works, asks the user and ends. A run is work of the agent that takes longer than a response (`docs/runs.md`).", run.Table.Mermaid(run.Queued{})},
		{"idempotency", "It decides which try of a request reaches the server and which answer the other tries get. Unknown: the server may have processed the request, and its answer is lost.", idempotency.Table.Mermaid(idempotency.Free{})},
		{"journal", "It decides which events the owner of a call may send to the client while the server writes the call to its log. Doubtful: it does not know whether the store has its last write. Broken, Mending: it sends all events at once, and repairs the log. Off: the log is gone.", journal.Table.Mermaid(journal.Waiting{})},
		{"turnend", "It decides whether the end of a turn is final. If the user goes on soon after an end, the end is taken back: both parts become one turn.", turnend.Table.Mermaid(turnend.Final{})},
		{"continuation", "It runs in a session that has taken a call over from a server that was killed. It decides which answer of the call this session continues, and when. Three events come from the journal. Kept: the newest answer. Lost: a response that was cut off. TakenOver: what else is lost. Due: the session must continue the answer. Free: nobody speaks.", continuation.Table.Mermaid(continuation.Quiet{})},
		{"remotecall", "It decides whether the user is asked for approval of one call of a remote tool by MCP, when the server calls the tool, and how the call ends. Lost: another server goes on with the conversation.", remotecall.Table.Mermaid(remotecall.Writing{})},
		{"session", "The composition connects the machines of a session. An arrow's label has the events that the second machine gets because of effects of the first one. *configure* is a change of the settings. *transcription* is the machine of the open turn; *transcription.final* and *transcription.older* are those of the last two committed turns.", flow},
	} {
		page += "\n## " + m.name + "\n" + m.decides + "\n\n```mermaid\n" + strings.TrimRight(m.diagram, "\n") + "\n```\n"
	}
	file(t, "../../docs/machines.md", page)
}
