package mcp

// This file says which MCP servers may be called, and opens the connections to them.

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/antiphon-rt/antiphon/internal/account"
)

// Limits of all calls of a server.
const (
	maxConnections = 256 // connections to MCP servers; a principal has its fair share of them
	MaxServers     = 8   // MCP servers of one session
)

// Times that a step may take. Timeout is that of a call where the operator gives none.
const (
	connectTime = 15 * time.Second // connecting and listing
	closeTime   = 3 * time.Second  // closing; after that the connection is cut
	Timeout     = 30 * time.Second
)

// Config says which MCP servers a server may call. The zero value lets clients name any server at a public address.
type Config struct {
	Servers []Named
	// Allow are addresses that clients may name although they are not public.
	Allow []netip.Prefix
	// NoURLs lets clients use the Servers only.
	NoURLs bool
	// Idle opens no connection: a logbook is played.
	Idle bool
	// Answer has the agent answer by itself after an MCP call. Without it the client asks for the answer, as the protocol says.
	Answer bool
	// SpokenApproval has the server itself ask the user by speech for the approval of a call, and take the answer from the user's next turn. A client may
	// still answer by an event. It needs Answer.
	SpokenApproval bool
}

// Named is an MCP server of the operator: it has a URL, a command, or a Transport.
type Named struct {
	Name    string
	URL     string
	Headers map[string]string
	Command []string // the program and its arguments
	Env     []string // its environment, NAME=value, in addition to PATH, HOME and LANG
	Timeout time.Duration
	// Transport returns a new connection to a server in the same program.
	Transport func() sdk.Transport
}

// Check returns an error that says what is wrong in the configuration.
func (c *Config) Check() error {
	if c.SpokenApproval && !c.Answer {
		return errors.New("spoken_approval needs answer: true: otherwise nobody tells the user what has become of the call")
	}
	for i, s := range c.Servers {
		switch {
		case !labels.MatchString(s.Name) || s.Name == OwnLabel:
			return fmt.Errorf("MCP server %q: want a name of 1 to 64 letters, digits, _ or -, and not %q", s.Name, OwnLabel)
		case slices.ContainsFunc(c.Servers[:i], func(o Named) bool { return o.Name == s.Name }):
			return fmt.Errorf("MCP server %s: there are two servers of this name: give one of them another name", s.Name)
		case s.Transport == nil && (s.URL == "") == (len(s.Command) == 0):
			return fmt.Errorf("MCP server %s: give either url or command", s.Name)
		case s.Timeout < 0 || s.Timeout > 10*time.Minute:
			return fmt.Errorf("MCP server %s: the timeout is %v: want at most 10m, or 0 for %v", s.Name, s.Timeout, Timeout)
		}
		if _, bad := define(fields{Label: s.Name, URL: s.URL}, secret{}); bad != nil {
			return fmt.Errorf("MCP server %s: %s: %s", s.Name, strings.TrimPrefix(bad.Field, "server_"), bad.Message)
		}
		if bad := (&secret{Headers: s.Headers}).check(); bad != nil {
			return fmt.Errorf("MCP server %s: %s: %s", s.Name, bad.Field, bad.Message)
		}
	}
	return nil
}

// Directory opens connections to MCP servers. It is safe for concurrent use.
type Directory struct {
	Config
	shares *account.Budget
}

// New returns a Directory. Check has accepted c.
func New(c Config) *Directory { return &Directory{Config: c, shares: account.New(maxConnections)} }

// Names returns the names of the operator's servers; nil and false if clients may not name others.
func (d *Directory) Names() (own Names, urls bool) {
	if d == nil {
		return nil, true
	}
	own = Names{}
	for _, s := range d.Servers {
		own[s.Name] = true
	}
	return own, !d.NoURLs
}

// Errors of Open.
var (
	errShare = errors.New("as many connections to MCP servers are open as may be: try again later")
	errLost  = errors.New("the server that had the headers of this MCP server has ended: send session.update with its tools again")
)

// Open connects to a server and lists its tools. It returns at the latest when ctx ends. The caller closes the Server. The error is an *Error.
func (d *Directory) Open(ctx context.Context, principal string, def Definition) (*Server, []Tool, error) {
	if d.Idle {
		return nil, nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: "no connection is opened"}
	}
	if def.Lost {
		return nil, nil, &Error{Kind: kindHTTP, Code: "401", Message: errLost.Error()}
	}
	if d.shares.Take(principal, 1) != nil {
		return nil, nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: errShare.Error()}
	}
	s := &Server{limit: Timeout, release: func() { d.shares.Give(principal, 1) }}
	t, allow := Named{URL: def.URL, Headers: def.Headers}, d.permits
	if i := slices.IndexFunc(d.Servers, func(n Named) bool { return n.Name == def.Label }); i >= 0 {
		t, allow = d.Servers[i], nil
		if t.Timeout > 0 {
			s.limit = t.Timeout
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, errTime)
	defer cancel()
	tools, err := s.open(ctx, t, allow)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, tools, nil
}

// special are the networks, beyond those that netip knows, whose addresses are not those of public servers.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("168.63.129.16/32"), // the metadata server of Azure
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2002::/16"), // these contain IPv4 addresses
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("3fff::/20"),
}

// public6 is all of IPv6 that servers of the internet have. What is outside of it belongs to a network, such as 5f00::/16 (segment routing) and 64:ff9b::/96 (NAT64).
var public6 = netip.MustParsePrefix("2000::/3")

// permits reports whether a client may have the server call an address.
func (d *Directory) permits(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if slices.ContainsFunc(d.Allow, in) {
		return true
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || public6.Contains(a)) && !slices.ContainsFunc(special, in)
}
