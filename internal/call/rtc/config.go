package rtc

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// The engine's configuration: defaults and limits.

// Config says how an Engine works. The zero value works: ephemeral UDP ports, no loopback.
type Config struct {
	// UDPPort is the one port for the packets of all calls, for firewalls; 0 gives each call ports of its own.
	UDPPort int
	// Loopback also offers the loopback addresses, for clients on the same machine.
	Loopback bool
	// LoopbackOnly offers and opens the loopback addresses alone, so that no other machine reaches the server. It implies Loopback. A call of Firefox has
	// sockets on the other addresses, too, because Firefox never connects to a loopback address; they drop the packets of other machines.
	LoopbackOnly bool
	// PrivateRemotes sends connectivity checks also to private and link-local addresses that a client names and that are outside of the
	// networks of this machine. A client that reaches the server needs no such check.
	PrivateRemotes bool
	// PublicAddresses are addresses under which clients reach this machine and which no interface has (1:1 NAT, a container). Answers list
	// them beside the interfaces' own, with the same ports.
	PublicAddresses []netip.Addr
	// TCP accepts connections of clients whose network lets no UDP through (ICE over TCP, RFC 6544). Its port is that of the answers.
	// The engine closes it. nil for none.
	TCP net.Listener
	// Logger gets errors and warnings, and pion's messages at debug level. nil discards all.
	Logger *slog.Logger

	// OpusComplexity is 1 (cheap) to 10 (best); 0 takes 1. BenchmarkSpeech of the codec shows what each sounds like and costs.
	OpusComplexity int
	// OpusBitrate is the bit rate of the agent's audio in bit/s, 6000 to 128000; 0 takes 40000.
	OpusBitrate int

	// Disconnected is how long the network must be silent before Handler.Lost is called; 0 takes 4 s.
	Disconnected time.Duration
	// Failed is how much longer it takes until the call fails (call.ErrUnreachable); 0 takes 25 s. The session's own grace time
	// should be shorter.
	Failed time.Duration
	// KeepAlive is the interval of connectivity checks; 0 takes 1 s.
	KeepAlive time.Duration
	// Connect is how long a client may take from the answer to the connection before the call fails; 0 takes 15 s.
	Connect time.Duration
	// Gather is how long Answer waits for all addresses of the server; 0 takes 500 ms. If none is known then, it waits for the first one.
	Gather time.Duration

	// farewell bounds how long the end of a call waits for the client to close the data channel; 0 takes 1 s.
	farewell time.Duration

	// MaxMessage is the largest incoming message in bytes, announced to the client; 0 takes 256 KiB.
	MaxMessage int
	// MaxQueuedEvents and MaxQueuedBytes bound the events that wait to be sent to one client; 0 takes 1024 events and 4 MiB.
	MaxQueuedEvents, MaxQueuedBytes int
}

// withDefaults returns c with defaults for zero fields, and an error for values that cannot work.
func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Loopback = c.Loopback || c.LoopbackOnly
	c.OpusComplexity = cmp.Or(c.OpusComplexity, 1)
	c.OpusBitrate = cmp.Or(c.OpusBitrate, 40_000)
	c.MaxMessage = cmp.Or(c.MaxMessage, 256<<10)
	c.MaxQueuedEvents = cmp.Or(c.MaxQueuedEvents, 1024)
	c.MaxQueuedBytes = cmp.Or(c.MaxQueuedBytes, 4<<20)
	c.Disconnected = cmp.Or(c.Disconnected, 4*time.Second)
	c.Failed = cmp.Or(c.Failed, 25*time.Second)
	c.KeepAlive = cmp.Or(c.KeepAlive, time.Second)
	c.Connect = cmp.Or(c.Connect, 15*time.Second)
	c.Gather = cmp.Or(c.Gather, 500*time.Millisecond)
	c.farewell = cmp.Or(c.farewell, time.Second)
	switch {
	case c.UDPPort < 0 || c.UDPPort > 65535:
		return c, fmt.Errorf("rtc: UDP port %d: want 0 (ephemeral) to 65535", c.UDPPort)
	case c.OpusComplexity < 1 || c.OpusComplexity > 10:
		return c, fmt.Errorf("rtc: Opus complexity %d: want 1 to 10, or 0 for the default", c.OpusComplexity)
	case c.OpusBitrate < 6000 || c.OpusBitrate > 128_000:
		return c, fmt.Errorf("rtc: Opus bitrate %d: want 6000 to 128000 bit/s, or 0 for the default", c.OpusBitrate)
	case c.MaxMessage < 1024 || c.MaxMessage > 16<<20:
		return c, fmt.Errorf("rtc: largest message %d bytes: want 1024 to %d, or 0 for the default", c.MaxMessage, 16<<20)
	case c.MaxQueuedEvents < 0 || c.MaxQueuedBytes < 0:
		return c, fmt.Errorf("rtc: negative queue limit: want a positive one, or 0 for the default")
	case min(c.Disconnected, c.Failed, c.KeepAlive, c.Connect, c.Gather) < 0:
		return c, fmt.Errorf("rtc: negative time limit: want a positive one, or 0 for the default")
	}
	return c, nil
}
