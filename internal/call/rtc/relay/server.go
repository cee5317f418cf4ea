package relay

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pion/turn/v5"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/limited"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/pionlog"
)

// The TURN server: its ports, who may allocate, and how many.

// realm is the realm of the server's credentials. It is short, because each answer to a stranger has it.
const realm = "a"

// Config says how a Server works. Address, Secret and IsMedia are required.
type Config struct {
	// Address is the HOST:PORT of the server, over UDP and TCP.
	Address string
	// TCP accepts the clients over TCP and TLS, in place of the TCP port of Address; nil for that port. The Server closes it.
	TCP net.Listener
	// Secret is that of the credentials: see Issue.
	Secret string
	// IsMedia reports whether an address is one where this server receives the audio of calls. The relay sends to no other.
	IsMedia func(netip.AddrPort) bool
	// Local returns the addresses of this machine from which the relay reaches the media addresses.
	Local func() []netip.Addr
	// MaxAllocations is how many clients are relayed at a time; 0 takes 400. MaxPerAddress is the same for one client address; 0 takes a
	// quarter of MaxAllocations. One credential has at most 6, and one payer at most three times what it leaves free.
	MaxAllocations, MaxPerAddress int
	// BytesPerSecond is how much one client may send in a second on average; 0 takes 128 KiB.
	BytesPerSecond int
	// Logger gets errors, and pion's messages at debug level. nil discards all.
	Logger *slog.Logger

	first time.Duration // 0 takes firstTimeout
}

// maxPerCredential is how many allocations one credential may have at a time: one for IPv4 and one for IPv6 over UDP, TCP and TLS.
const maxPerCredential = 6

// maxChannels is how many channels one allocation may have at a time: a client binds one to each address of the media. Each costs memory, and a search with each packet.
const maxChannels = 64

// payerShare is how many times what is free one payer may have, so that others always find room. A payer that is alone gets three quarters.
const payerShare = 3

// Server is a TURN server. It is safe for concurrent use.
type Server struct {
	cfg  Config
	turn *turn.Server
	port int

	mu        sync.Mutex
	all       int
	byUser    map[string]int // allocations by username
	byPayer   map[string]int // by the mark of their payer
	byAddress map[string]int
	bySource  map[string]int // by the HOST:PORT of the client
	channels  map[string]int // channels by the HOST:PORT of the client
}

// New opens the port of cfg over UDP and TCP, and serves until Close.
func New(cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxAllocations == 0 {
		cfg.MaxAllocations = 400
	}
	if cfg.MaxPerAddress == 0 {
		cfg.MaxPerAddress = max(1, cfg.MaxAllocations/4)
	}
	if cfg.BytesPerSecond == 0 {
		cfg.BytesPerSecond = 128 << 10
	}
	s := &Server{cfg: cfg, byUser: map[string]int{}, byPayer: map[string]int{}, byAddress: map[string]int{}, bySource: map[string]int{}, channels: map[string]int{}}
	tcp, err := cfg.TCP, error(nil)
	if tcp == nil {
		if tcp, err = net.Listen("tcp", cfg.Address); err != nil {
			return nil, fmt.Errorf("relay: %w: choose another address with --turn", err)
		}
	}
	s.port = tcp.Addr().(*net.TCPAddr).Port
	host, _, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: address %q: %w", cfg.Address, err), tcp.Close())
	}
	udp, err := net.ListenPacket("udp", net.JoinHostPort(host, fmt.Sprint(s.port)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: %w: choose another address with --turn", err), tcp.Close())
	}
	s.turn, err = turn.NewServer(turn.ServerConfig{
		Realm: realm, LoggerFactory: pionlog.New(cfg.Logger),
		AuthHandler: s.authorize, QuotaHandler: s.permitsMore,
		EventHandler: turn.EventHandler{
			OnAllocationCreated: func(src, _ net.Addr, _, user, _ string, _ net.Addr, _ int) { s.count(user, src, 1) },
			OnAllocationDeleted: func(src, _ net.Addr, _, user, _ string) { s.count(user, src, -1) },
			OnChannelCreated:    func(src, _ net.Addr, _, _, _ string, _, _ net.Addr, _ uint16) { s.countChannel(src, 1) },
			OnChannelDeleted:    func(src, _ net.Addr, _, _, _ string, _, _ net.Addr, _ uint16) { s.countChannel(src, -1) },
		},
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: newStrangers(udp), RelayAddressGenerator: generator{s}, PermissionHandler: s.permits}},
		ListenerConfigs: []turn.ListenerConfig{{
			Listener: within(limited.New(tcp, 2*cfg.MaxAllocations, 2*cfg.MaxPerAddress), cfg.first, s.allocated), RelayAddressGenerator: generator{s}, PermissionHandler: s.permits,
		}},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: %w", err), tcp.Close(), udp.Close())
	}
	return s, nil
}

// Port returns the port of the server, over UDP and TCP.
func (s *Server) Port() int { return s.port }

// Allocations returns how many clients are relayed now.
func (s *Server) Allocations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Close ends all allocations and closes the port.
func (s *Server) Close() error { return s.turn.Close() }

// authorize checks a username and returns its key. A credential that has expired stays good for the allocations that were made with it.
func (s *Server) authorize(a *turn.RequestAttributes) (user string, key []byte, ok bool) {
	expires, ok := expiry(a.Username)
	if !ok || time.Now().After(expires) && !s.has(a.Username) {
		return "", nil, false
	}
	return a.Username, turn.GenerateAuthKey(a.Username, a.Realm, password(s.cfg.Secret, a.Username)), true
}

// has reports whether a credential has allocations.
func (s *Server) has(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byUser[user] > 0
}

// permitsMore reports whether a credential, its payer and a client address may have one more allocation.
func (s *Server) permitsMore(user, _ string, src net.Addr) bool {
	expires, ok := expiry(user)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && time.Now().Before(expires) && s.all < s.cfg.MaxAllocations && s.byUser[user] < maxPerCredential &&
		s.byPayer[payer(user)] < payerShare*(s.cfg.MaxAllocations-s.all) && s.byAddress[limited.Client(src)] < s.cfg.MaxPerAddress
}

// permits reports whether a client may send to an address through the relay, and bind a channel to it. The port is checked with each packet.
func (s *Server) permits(src net.Addr, peer net.IP) bool {
	if s.countChannel(src, 0) >= maxChannels {
		return false
	}
	a, ok := netip.AddrFromSlice(peer)
	for _, local := range s.cfg.Local() {
		if ok && local == a.Unmap() {
			return true
		}
	}
	return false
}

// allocated reports whether the client at a HOST:PORT has an allocation.
func (s *Server) allocated(src net.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bySource[src.String()] > 0
}

// count changes the number of allocations of a credential, of its payer and of a client address.
func (s *Server) count(user string, src net.Addr, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all += by
	add(s.byUser, user, by)
	add(s.byPayer, payer(user), by)
	add(s.byAddress, limited.Client(src), by)
	add(s.bySource, src.String(), by)
}

// countChannel changes the number of channels of a client, and returns it.
func (s *Server) countChannel(src net.Addr, by int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(s.channels, src.String(), by)
	return s.channels[src.String()]
}

// add changes a count and forgets it at zero.
func add(counts map[string]int, key string, by int) {
	if counts[key] += by; counts[key] <= 0 {
		delete(counts, key)
	}
}
