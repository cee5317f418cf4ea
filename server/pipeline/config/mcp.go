package config

// The section `mcp`: the MCP servers of the operator, and what clients may name.

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/internal/mcp"
)

// MCP says which servers of remote tools (Model Context Protocol) sessions may use.
type MCP struct {
	URLs    *bool       `yaml:"urls" doc:"Whether clients may name servers by URL; true where it is left out."`
	Allow   []string    `yaml:"allow" doc:"Addresses and networks, such as 10.1.2.0/24, that clients may name although they are not public."`
	Answer  bool        `yaml:"answer" doc:"The agent answers by itself after a call. Otherwise the client asks for the answer, as the protocol says."`
	Spoken  bool        `yaml:"spoken_approval" doc:"The server asks the user by speech for the approval of a call, and takes the answer from the user's next turn. It needs answer: true."`
	Servers []MCPServer `yaml:"servers" doc:"Servers that clients use by their names."`
}

// MCPServer is an MCP server of the operator.
type MCPServer struct {
	Name    string            `yaml:"name" required:"" doc:"The server_label with which a client uses the server."`
	URL     string            `yaml:"url" doc:"The address, such as http://127.0.0.1:9000/mcp."`
	KeyEnv  string            `yaml:"key_env" doc:"The environment variable that has the key of the server."`
	KeyFile string            `yaml:"key_file" type:"path" doc:"The file that has the key of the server, and nothing else."`
	Headers map[string]string `yaml:"headers" doc:"Further header fields of each request."`
	Command []string          `yaml:"command" doc:"In place of url: the program and its arguments. Each session starts its own."`
	Env     []string          `yaml:"env" doc:"With command: the environment variables that the program gets, in addition to PATH, HOME and LANG."`
	Timeout time.Duration     `yaml:"timeout" min:"100ms" max:"10m" doc:"How long a call may take; 30s where it is left out."`
}

// MCPConfig has MCP servers as server.Config.MCP takes them.
type MCPConfig = mcp.Config

// MCPServers returns the MCP servers, for server.Config.MCP. It calls no server. The error names what is wrong.
func (f *File) MCPServers(e Env) (c MCPConfig, err error) {
	c = mcp.Config{NoURLs: f.MCP.URLs != nil && !*f.MCP.URLs, Answer: f.MCP.Answer, SpokenApproval: f.MCP.Spoken}
	if c.Allow, err = networks(f.MCP.Allow); err != nil {
		return c, fmt.Errorf("%s: mcp: allow: %w", f.Path, err)
	}
	for _, s := range f.MCP.Servers {
		n := mcp.Named{Name: s.Name, URL: s.URL, Headers: map[string]string{}, Command: s.Command, Timeout: s.Timeout}
		for name, value := range s.Headers {
			n.Headers[name] = value
		}
		key, err := (&Remote{KeyEnv: s.KeyEnv, KeyFile: s.KeyFile}).Key(e)
		if err != nil {
			return c, fmt.Errorf("%s: mcp: %s: %w", f.Path, s.Name, err)
		}
		if key != "" {
			n.Headers["Authorization"] = "Bearer " + key
		}
		getenv := e.Getenv
		if getenv == nil {
			getenv = os.Getenv
		}
		for _, name := range s.Env {
			if getenv(name) == "" {
				return c, fmt.Errorf("%s: mcp: %s: the environment variable %s (env) is not set", f.Path, s.Name, name)
			}
			n.Env = append(n.Env, name+"="+getenv(name))
		}
		c.Servers = append(c.Servers, n)
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("%s: mcp: %w", f.Path, err)
	}
	return c, nil
}

// networks reads addresses and networks.
func networks(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, bad := netip.ParseAddr(text)
			if bad != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network: want one such as 10.1.2.0/24", text)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		all = append(all, network)
	}
	return all, nil
}
