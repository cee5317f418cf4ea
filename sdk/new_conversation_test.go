package sdk

// A new conversation in place of a lost one: what it contains, and what becomes of waiting messages.

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// itemsTold returns the items that the session has created on this connection, as "role: text", joined by semicolons.
func itemsTold(l *exchangePeer) string {
	var items []string
	for _, s := range l.got() {
		if _, item, is := strings.Cut(s, "conversation.item.create "); is {
			items = append(items, item)
		}
	}
	return strings.Join(items, "; ")
}

func TestANewConversationReplacesALostOne(t *testing.T) {
	for name, plans := range map[string][]plan{
		"the server has restarted":           {kept, {err: &RefusedError{Status: 404}}, {token: "U"}},
		"the server keeps too little":        {kept, {err: &RefusedError{Status: 410}}, {token: "U"}},
		"the server cannot read the token":   {kept, {err: &RefusedError{Status: 400}}, {token: "U"}},
		"a server that is no Antiphon":       {{}, {}},
		"a server that begins a new session": {kept, {token: "U"}},
	} {
		bubble(t, name, func(t *testing.T) {
			l := connectedBy(t, Options{Instructions: "Be brief."}, plans...)
			first := l.x.peers[0]
			user, agent := "u1", "a1"
			for _, e := range []wire.ServerEvent{
				&wire.InputAudioBufferSpeechStarted{EventID: "1", ItemID: user},
				&wire.ConversationItemInputAudioTranscriptionCompleted{EventID: "2", ItemID: user, Transcript: "Tell me a story."},
				&wire.ResponseCreated{EventID: "3", Response: wire.Response{ID: "r1", Status: "in_progress"}},
				&wire.ResponseOutputItemAdded{EventID: "4", ResponseID: "r1", Item: wire.Item{ID: agent, Type: wire.ItemMessage, Role: "assistant"}},
				&wire.ResponseOutputAudioTranscriptDelta{EventID: "5", ResponseID: "r1", ItemID: agent, Delta: "Once upon a time"},
			} {
				first.sink(message(e))
			}
			first.sink(PeerBroken{})
			l.g.Expect(l.SendText("Go on.")).To(gomega.Succeed())
			l.wait(2 * time.Second)
			l.g.Expect(l.x.peers).To(gomega.HaveLen(2))
			second := l.x.peers[1]
			l.g.Expect(itemsTold(second)).To(gomega.Equal("user: Tell me a story.; assistant: Once upon a time; user: Go on."))
			sent := strings.Join(second.got(), ", ")
			l.g.Expect(sent).To(gomega.MatchRegexp(`session.update.*Tell me.*Go on\., client_\d+ response.create$`))
			now := l.Snapshot()
			l.g.Expect(now.SessionID).To(gomega.Equal("sess_2"))
			l.g.Expect(now.Err).To(gomega.MatchError(ErrBegunAnew))
			l.g.Expect(now.Transcript).To(gomega.HaveLen(3))
			l.g.Expect(now.Transcript[1].Note).To(gomega.ContainSubstring("The connection was lost here."))
			l.g.Expect(now.Transcript[2].Note).To(gomega.BeEmpty())

			// The server's events about the carried-over items change neither their place nor their words.
			for i, id := range []string{user, agent} {
				previous := []*string{nil, &user}[i]
				second.sink(message(&wire.ConversationItemAdded{EventID: "x", PreviousItemID: previous, Item: wire.Item{
					ID: id, Type: wire.ItemMessage, Role: []string{"user", "assistant"}[i],
				}}))
			}
			l.g.Expect(l.Snapshot().Transcript).To(gomega.Equal(now.Transcript))
			second.sink(message(&wire.ResponseCreated{EventID: "y", Response: wire.Response{ID: "r2", Status: "in_progress"}}))
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Thinking))
			l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		})
	}
}

// TestMessagesAndToolResultsAfterALoss: what becomes of a message and of a tool's result that were under way when the conversation
// was lost.
func TestMessagesAndToolResultsAfterALoss(t *testing.T) {
	bubble(t, "a message that had not arrived is sent again", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{})
		l.g.Expect(l.SendText("taken")).To(gomega.Succeed())
		id := l.Snapshot().Transcript[0].ItemID
		l.x.peers[0].sink(message(&wire.ConversationItemAdded{EventID: "1", Item: wire.Item{
			ID: id, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "taken"}},
		}}))
		l.g.Expect(l.SendText("lost")).To(gomega.Succeed())
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(itemsTold(l.x.peers[1])).To(gomega.Equal("user: taken; user: lost"))
		sent := l.x.peers[1].got()
		l.g.Expect(sent[len(sent)-1]).To(gomega.HaveSuffix("response.create"))
	})

	bubble(t, "a result of a tool of the lost conversation is dropped", func(t *testing.T) {
		answer := make(chan string)
		run := func(context.Context, string) (string, error) { return <-answer, nil }
		l := connectedBy(t, Options{Tools: []Tool{{Name: "weather", Run: run}}}, plan{}, plan{})
		call := wire.Item{ID: "f1", Type: wire.ItemFunctionCall, CallID: "c1", Name: "weather", Arguments: "{}", Status: "completed"}
		l.x.peers[0].sink(message(&wire.ResponseOutputItemDone{EventID: "1", ResponseID: "r", Item: call}))
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		answer <- "rain"
		synctest.Wait()
		l.g.Expect(strings.Join(l.x.peers[1].got(), ", ")).NotTo(gomega.ContainSubstring("conversation.item.create"))
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

func TestMessagesThatWaitAreBounded(t *testing.T) {
	bubble(t, "a message beyond the limit is refused, and its entry says so", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept, plan{err: errTorn})
		l.x.peers[0].sink(PeerBroken{})
		for range 256 {
			l.g.Expect(l.SendText("hello?")).To(gomega.Succeed())
		}
		now := l.Snapshot()
		l.g.Expect(now.State).To(gomega.Equal(Reconnecting), "it is no reason to give up")
		l.g.Expect(now.Err).To(gomega.MatchError(ErrReconnecting))
		waiting, refused := 0, 0
		for _, e := range now.Transcript {
			if e.Failed {
				refused++
			} else {
				waiting++
			}
		}
		l.g.Expect(waiting).To(gomega.Equal(256 / 4)) // a message and the request for its answer
		l.g.Expect(refused).To(gomega.Equal(256 - waiting))
	})
}
