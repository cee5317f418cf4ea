package store

// Open and Close, and the configuration.

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/antiphon-rt/antiphon/internal/disk"
	"github.com/antiphon-rt/antiphon/internal/steps"
)

// The errors that callers tell apart. The errors of this package wrap one of them.
var (
	// ErrNotFound: the key has no value.
	ErrNotFound = steps.ErrNotFound
	// ErrConflict: somebody else has changed the key.
	ErrConflict = steps.ErrConflict
	// ErrFull: a limit of the bucket or the disk is reached. It is an ErrUnavailable, too.
	ErrFull = fmt.Errorf("%w: it is full", ErrUnavailable)
	// ErrUnavailable: the store does not answer, or cannot write. The operation may have happened or not.
	ErrUnavailable = steps.ErrUnavailable
	// ErrNewer: a newer version of this program has written the data.
	ErrNewer = errors.New("the stored data belongs to a newer version of this program")
	// ErrNoFolder: there is no folder for temporary files. A store in memory needs one, too.
	ErrNoFolder = errors.New("there is no folder for temporary files: set TMPDIR to one that this user can write")
	// ErrInUse: another process uses the folder.
	ErrInUse = errors.New("another process uses this data folder")
)

// Config says where the values are. The zero value keeps them in memory.
type Config struct {
	// Dir is the folder of the files. It is created with mode 0700; if it is there, others must not be able to open it. ""
	// keeps everything in memory, and the end of the process loses it.
	Dir string
	// URL is a NATS server with JetStream elsewhere, such as nats://host:4222; several are separated by commas. It excludes Dir.
	URL string
	// Replicas is how many servers of a NATS cluster keep each value: 1 to 5; 0 takes 1. It needs URL.
	Replicas int
	// Unsynced leaves it to the system when files are written to the disk. A crash of the machine then loses what was acknowledged.
	Unsynced bool
	// MaxBytes is the limit of all buckets together, in bytes; 0 takes 1 GiB. With URL, the limits of the server count in addition.
	MaxBytes int64
	// Reserve is how many bytes of the disk stay free for what was begun already; 0 takes 64 MiB.
	Reserve int64
	// Timeout limits each call; 0 takes 5 s.
	Timeout time.Duration
	// Logger gets warnings and errors of the server inside this process and of the connection. nil discards them.
	Logger *slog.Logger

	free func(folder string) (int64, error) // nil takes disk.Free
}

// Values of fields of Config that are 0.
const (
	defaultMaxBytes = 1 << 30
	defaultReserve  = 64 << 20
	defaultTimeout  = 5 * time.Second
)

// startTimeout limits Open: the server reads what the files have. closeTimeout limits Close.
const (
	startTimeout = 2 * time.Minute
	closeTimeout = 20 * time.Second
)

// check returns an error for a configuration that contradicts itself, or the configuration with defaults for its zero fields.
func (c Config) check() (Config, error) {
	switch {
	case c.URL != "" && c.Dir != "":
		return c, errors.New("the store is either a data folder or a NATS server elsewhere: name one of them")
	case c.Replicas != 0 && c.URL == "":
		return c, errors.New("replicas need a NATS server elsewhere")
	case c.Replicas < 0 || c.Replicas > 5:
		return c, fmt.Errorf("%d replicas: want 1 to 5", c.Replicas)
	case c.MaxBytes < 0 || c.Reserve < 0 || c.Timeout < 0:
		return c, errors.New("a limit of the store is negative")
	}
	c.Replicas = max(c.Replicas, 1)
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Reserve == 0 {
		c.Reserve = defaultReserve
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.free == nil {
		c.free = disk.Free
	}
	return c, nil
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	cfg  Config
	own  *embedded // nil with Config.URL
	conn *nats.Conn
	js   jetstream.JetStream
	now  clock
	name string

	doubts  atomic.Uint64 // how often the connection came back or an operation missed its stream: the NATS server may have lost its data
	doubted chan struct{} // has a token while the goroutine look has to look for the streams
	closing chan struct{}
	looked  chan struct{} // closed when the goroutine look has ended
	end     sync.Once
	mu      sync.Mutex
	streams []*stream // those that look makes anew if they are lost
}

// Open opens the store and brings its data to the version of this program. It fails with ErrInUse, ErrNewer, ErrNoFolder or ErrUnavailable. The caller closes
// the store.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s := &Store{cfg: cfg, name: rand.Text(), now: clock{one: make(chan struct{}, 1)}}
	s.doubted, s.closing, s.looked = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go s.look()
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.cfg.URL == "" {
		if s.own, err = startServer(ctx, s.cfg); err != nil {
			return err
		}
	}
	if s.conn, err = s.connect(); err != nil {
		var unreadable *url.Error
		if errors.As(err, &unreadable) {
			err = fmt.Errorf("the URL of the NATS server cannot be read: %w", unreadable.Err) // without the URL, which may have a password
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(s.cfg.Timeout)); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return s.migrate(ctx, migrations)
}

// connect connects to the server, inside this process or elsewhere. A connection that is lost comes back by itself. Until then calls fail: what is
// written is never kept in the connection for later.
func (s *Store) connect() (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("antiphon"), nats.Timeout(s.cfg.Timeout), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.cfg.Logger.Warn("the store has lost its server", "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			s.cfg.Logger.Info("the store has its server again")
			s.doubt() // it may have lost its data
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.cfg.Logger.Warn("the store's connection", "err", err)
		}),
	}
	if s.own != nil {
		options = append(options, nats.InProcessServer(s.own.server))
	}
	return nats.Connect(s.cfg.URL, options...)
}

// Close ends the store within 20 s. Calls that still run fail.
func (s *Store) Close() error {
	s.end.Do(func() { close(s.closing) })
	if s.conn != nil {
		s.conn.Close()
	}
	<-s.looked
	if s.own == nil {
		return nil
	}
	return s.own.close()
}

// Exclusive reports whether no other process can use the data, because it is in memory or in a folder: whoever wrote it before this process began is gone.
func (s *Store) Exclusive() bool { return s.own != nil }

// MaxBytes returns the limit of all buckets together, in bytes.
func (s *Store) MaxBytes() int64 { return s.cfg.MaxBytes }

// Process returns a name that this open store alone has.
func (s *Store) Process() string { return s.name }

// Healthy returns nil if the store answers and can write.
func (s *Store) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if _, err := s.free(); err != nil {
		return err
	}
	if err := s.writable(ctx); err != nil {
		return err
	}
	_, err := s.js.AccountInfo(ctx)
	return unavailable(err)
}

// writable returns an error if the server inside this process cannot write. If a write has failed and the disk has room again, it repairs the server first.
func (s *Store) writable(ctx context.Context) error {
	if s.own == nil || s.cfg.Dir == "" || !s.own.broken() {
		return nil
	}
	left, err := s.free()
	if err != nil {
		return err
	}
	if left < -s.cfg.Reserve/2 {
		return fmt.Errorf("%w: a write to %s has failed, and its disk has no room: make room on it", ErrFull, s.cfg.Dir)
	}
	if err := s.own.repair(ctx); err != nil {
		return err
	}
	s.cfg.Logger.Info("the store writes again", "folder", s.cfg.Dir)
	return nil
}

// free returns how many bytes the store may still write to the disk; memory and servers elsewhere have no such number.
func (s *Store) free() (int64, error) {
	if s.cfg.Dir == "" {
		return math.MaxInt64, nil
	}
	if err := s.own.present(s.cfg.Dir); err != nil {
		return 0, err
	}
	n, err := s.cfg.free(s.cfg.Dir)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return n - s.cfg.Reserve, nil
}

// makeFolder makes the data folder, for this user alone. A folder that is there stays as it is, and must be for this user alone.
func makeFolder(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", folder)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others than this user can open %s: run chmod 700 %s, or name a new folder", folder, folder)
	}
	return nil
}
