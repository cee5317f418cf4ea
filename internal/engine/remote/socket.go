package remote

// WebSockets: the same servers, deadlines and errors as for requests.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"
)

// longestHandshake is the longest time for the begin of a WebSocket, because a session waits for it while the user speaks.
const longestHandshake = 10 * time.Second

// Socket opens a WebSocket behind the address of a server. path may have a query. It returns the address without secrets, for errors. It
// tries the servers as Do does, and fails with the same errors. ctx limits the handshake alone. The caller closes the connection.
func (c *Client) Socket(ctx context.Context, path string) (conn *websocket.Conn, at string, err error) {
	u, err := url.Parse(path)
	if err != nil {
		return nil, "", err
	}
	err = c.rounds(ctx, func(base *url.URL) (f *failure) {
		target := base.JoinPath(u.Path)
		target.RawQuery = joinQueries(base.RawQuery, u.RawQuery)
		at = address(target)
		conn, f = c.upgrade(ctx, target)
		return f
	})
	return conn, at, err
}

// upgrade opens a WebSocket to one server.
func (c *Client) upgrade(ctx context.Context, target *url.URL) (*websocket.Conn, *failure) {
	f := &failure{url: address(target)}
	limit := min(c.config.FirstByte, longestHandshake)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("did not answer within %v", limit))
	defer cancel()
	header := http.Header{}
	for name, value := range c.config.Headers {
		header.Set(name, value)
	}
	header.Del("Authorization")
	if c.config.Key != "" {
		header.Set("Authorization", "Bearer "+c.config.Key)
	}
	conn, answer, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	switch {
	case err == nil:
		return conn, nil
	case answer == nil || answer.StatusCode == http.StatusSwitchingProtocols:
		f.explain(ctx, err)
		return nil, f
	}
	if answer.Body == nil {
		answer.Body = io.NopCloser(bytes.NewReader(nil))
	}
	if answer.StatusCode/100 == 2 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
		f.cause = errors.New("answered without opening a WebSocket")
		if line := FirstLine(text, c.config.Key); line != "" {
			f.cause = fmt.Errorf("%w: %s", f.cause, line)
		}
		f.hint = "check url and kind in the configuration"
		return nil, f
	}
	f.status(answer, c.config.Key)
	return nil, f
}
