//go:build !js

package sdktest_test

// The WebSocket server for tests of native clients.

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestAWebSocket(t *testing.T) {
	g := gomega.NewWithT(t)
	asked := make(chan string, 1)
	server := httptest.NewServer(sdktest.Handler(true, func(c *sdktest.Conn) {
		c.Send(&wire.SessionCreated{Session: wire.DefaultSession()})
		c.SendText("no event")
		e, ok := c.Until("conversation.item.create")
		if !ok {
			return
		}
		asked <- e.(*wire.ConversationItemCreate).Item.Content[0].Text
		c.Until("response.create")
		c.Send(&wire.ErrorEvent{Error: wire.Error{Type: "server_error", Code: "full", Message: "come back later"}})
		c.Next()
	}))
	defer server.Close()

	dialer := native.NewSocketDialer(native.Options{URL: server.URL})
	session, err := sdk.New(sdk.Options{Dialer: dialer, NoMicrophone: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(session.Connect(t.Context())).To(gomega.Succeed())
	g.Expect(session.SendText("hello")).To(gomega.Succeed())
	g.Expect(<-asked).To(gomega.Equal("hello"))
	shown := sdktest.Await(t, session, func(now sdk.Snapshot) bool { return now.Err != nil })
	g.Expect(strings.Contains(shown.Err.Error(), "come back later")).To(gomega.BeTrue())
	g.Expect(session.Close(context.Background())).To(gomega.Succeed())
}
