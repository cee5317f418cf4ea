package store

// The store: compare and swap, limits, versions, a folder that is in use, and a server that is lost.

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/onsi/gomega"
)

const patience = 30 * time.Second

// open opens a store and closes it at the end of the test.
func open(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newFolder returns the path of a data folder that is not there yet.
func newFolder(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }

// elsewhere starts a NATS server with a port, and returns its URL and the function that ends it.
func elsewhere(t *testing.T) (url string, end func()) {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, JetStreamMaxStore: 8 << 30, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s.Start()
	g.Expect(s.ReadyForConnections(startTimeout)).To(gomega.BeTrue())
	end = func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	t.Cleanup(end)
	return s.ClientURL(), end
}

func TestCompareAndSwap(t *testing.T) {
	url, _ := elsewhere(t)
	for name, cfg := range map[string]Config{"memory": {}, "files": {Dir: newFolder(t)}, "elsewhere": {URL: url}} {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), t.Context()
			s := open(t, cfg)
			b, err := s.Bucket(ctx, BucketConfig{Name: "test", History: 4})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = b.Get(ctx, "k")
			g.Expect(err).To(gomega.MatchError(ErrNotFound))

			first, err := b.Update(ctx, "k", []byte("one"), 0)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = b.Update(ctx, "k", []byte("other"), 0)
			g.Expect(err).To(gomega.MatchError(ErrConflict))
			second, err := b.Update(ctx, "k", []byte("two"), first)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = b.Update(ctx, "k", []byte("other"), first)
			g.Expect(err).To(gomega.MatchError(ErrConflict))

			e, err := b.Get(ctx, "k")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(string(e.Value)).To(gomega.Equal("two"))
			g.Expect(e.Revision).To(gomega.Equal(second))
			now, err := s.Now(ctx)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(e.Written).To(gomega.BeTemporally("~", now, time.Minute))
			all, err := b.History(ctx, "k")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(all).To(gomega.HaveLen(2))
			g.Expect(s.Healthy(ctx)).To(gomega.Succeed())
			g.Expect(s.Exclusive()).To(gomega.Equal(cfg.URL == ""))
		})
	}
}

func TestFilesOutliveTheStore(t *testing.T) {
	g, ctx, dir := gomega.NewWithT(t), t.Context(), newFolder(t)
	s, err := Open(ctx, Config{Dir: dir})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	b, err := s.Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(b.Put(ctx, "k", []byte("kept"))).To(gomega.Succeed())
	g.Expect(s.Close()).To(gomega.Succeed())

	b, err = open(t, Config{Dir: dir}).Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	e, err := b.Get(ctx, "k")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(e.Value)).To(gomega.Equal("kept"))
	if info, err := os.Stat(dir); runtime.GOOS != "windows" {
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(info.Mode().Perm()).To(gomega.Equal(fs.FileMode(0o700)))
	}
}

func TestAFolderThatOthersCanOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // its permissions do not say it
	}
	g, dir := gomega.NewWithT(t), newFolder(t)
	g.Expect(os.Mkdir(dir, 0o700)).To(gomega.Succeed())
	g.Expect(os.Chmod(dir, 0o750)).To(gomega.Succeed())
	_, err := Open(t.Context(), Config{Dir: dir})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("chmod 700 " + dir)))
	g.Expect(os.Chmod(dir, 0o700)).To(gomega.Succeed())
	open(t, Config{Dir: dir})
}

func TestAFolderBelongsToOneProcess(t *testing.T) {
	g, dir := gomega.NewWithT(t), newFolder(t)
	open(t, Config{Dir: dir})
	_, err := Open(t.Context(), Config{Dir: dir})
	g.Expect(err).To(gomega.MatchError(ErrInUse))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(dir)))
}

// A process whose folder was taken away says so, before another one begins in a new folder of that name.
func TestAFolderThatIsReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it does not let the folder go
	}
	for name, replace := range map[string]func(dir string) error{
		"removed": os.RemoveAll, "renamed": func(dir string) error { return os.Rename(dir, dir+"-old") },
	} {
		t.Run(name, func(t *testing.T) {
			g, dir := gomega.NewWithT(t), newFolder(t)
			s := open(t, Config{Dir: dir, Timeout: time.Minute})
			b, err := s.Bucket(t.Context(), BucketConfig{Name: "test"})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(b.findRoom(t.Context())).To(gomega.Succeed())
			g.Expect(replace(dir)).To(gomega.Succeed())
			for range 2 {
				for _, err := range []error{b.findRoom(t.Context()), s.Healthy(t.Context())} {
					g.Expect(err).To(gomega.MatchError(ErrUnavailable))
					g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("removed or replaced")))
				}
				g.Expect(os.MkdirAll(dir, 0o700)).To(gomega.Succeed())
				g.Expect(os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600)).To(gomega.Succeed())
			}
		})
	}
}

func TestAnURLIsNotShown(t *testing.T) {
	_, err := Open(t.Context(), Config{URL: "nats://user:secret word@127.0.0.1:1"})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("cannot be read"), gomega.Not(gomega.ContainSubstring("secret")))))
}

func TestConfigurationsThatContradictThemselves(t *testing.T) {
	for name, cfg := range map[string]Config{
		"two places": {Dir: t.TempDir(), URL: "nats://127.0.0.1:1"}, "replicas alone": {Replicas: 3}, "many replicas": {URL: "nats://127.0.0.1:1", Replicas: 7},
		"a negative limit": {MaxBytes: -1}, "nobody there": {URL: "nats://127.0.0.1:1", Timeout: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), cfg)
			gomega.NewWithT(t).Expect(err).To(gomega.HaveOccurred())
		})
	}
}

func TestAFullDisk(t *testing.T) {
	g, ctx, free := gomega.NewWithT(t), t.Context(), int64(1)
	s := open(t, Config{Dir: newFolder(t), free: func(string) (int64, error) { return free, nil }})
	b, err := s.Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	err = b.Room(ctx)
	g.Expect(err).To(gomega.MatchError(ErrFull))
	g.Expect(err).To(gomega.MatchError(ErrUnavailable))
	g.Expect(b.Put(ctx, "k", []byte("what was begun before"))).To(gomega.Succeed())
	free = defaultReserve + 1
	g.Expect(b.findRoom(ctx)).To(gomega.Succeed())
}

func TestAFullBucket(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	b, err := open(t, Config{}).Bucket(ctx, BucketConfig{Name: "test", MaxBytes: 64 << 10})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(b.Room(ctx)).To(gomega.Succeed())
	g.Expect(b.Put(ctx, "a", make([]byte, 60<<10))).To(gomega.Succeed())
	g.Expect(b.findRoom(ctx)).To(gomega.MatchError(ErrFull))
	g.Expect(b.Put(ctx, "b", make([]byte, 60<<10))).To(gomega.MatchError(ErrFull))
	e, err := b.Get(ctx, "a")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(e.Value).To(gomega.HaveLen(60 << 10))
}

func TestALostServer(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	url, end := elsewhere(t)
	s := open(t, Config{URL: url, Timeout: time.Minute})
	b, err := s.Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	end()
	s.cfg.Timeout = 500 * time.Millisecond // a call that the lost server has got waits for this long
	_, err = b.Get(ctx, "k")
	g.Expect(err).To(gomega.MatchError(ErrUnavailable))
	_, err = b.Update(ctx, "k", []byte("v"), 0)
	g.Expect(err).To(gomega.MatchError(ErrUnavailable))
	g.Expect(b.Room(ctx)).To(gomega.MatchError(ErrUnavailable))
	g.Expect(s.Healthy(ctx)).To(gomega.MatchError(ErrUnavailable))
}

// A NATS server that comes back without its data gets the buckets and logs again, and who wants to know it is told.
func TestAServerThatLosesItsData(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	var addr *net.TCPAddr
	begin := func(port int) *server.Server {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, JetStreamMaxStore: 8 << 30, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		s.Start()
		g.Expect(s.ReadyForConnections(startTimeout)).To(gomega.BeTrue())
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		addr, _ = s.Addr().(*net.TCPAddr)
		return s
	}
	first := begin(server.RANDOM_PORT)
	s := open(t, Config{URL: first.ClientURL()})
	anew := make(chan string, 10)
	b, err := s.Bucket(ctx, BucketConfig{Name: "test", Anew: func() { anew <- "bucket" }})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	quiet, err := s.Bucket(ctx, BucketConfig{Name: "quiet"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	l, err := s.Log(ctx, LogConfig{Name: "test", Anew: func() { anew <- "log" }})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = b.Update(ctx, "k", []byte("v"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	last, err := l.Append(ctx, "list", []byte("entry"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	was := l.Incarnation()

	first.Shutdown()
	first.WaitForShutdown()
	begin(addr.Port)
	var told []string
	for len(told) < 2 {
		var who string
		g.Eventually(anew, patience).Should(gomega.Receive(&who))
		told = append(told, who)
	}
	g.Expect(told).To(gomega.ConsistOf("bucket", "log"))
	_, err = b.Get(ctx, "k")
	g.Expect(err).To(gomega.MatchError(ErrNotFound))
	_, err = b.Update(ctx, "k", []byte("v"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(quiet.Put(ctx, "k", []byte("v"))).To(gomega.Succeed())
	g.Expect(l.Incarnation()).NotTo(gomega.Equal(was))
	_, err = l.Append(ctx, "list", []byte("stale"), last)
	g.Expect(err).To(gomega.MatchError(ErrConflict))
	_, err = l.Append(ctx, "list", []byte("anew"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
}

// unless returns err, or nil if it is one that does not matter.
func unless(err, matters error) error {
	if errors.Is(err, matters) {
		return nil
	}
	return err
}

// Streams that somebody removes are made anew with the next operations.
func TestStreamsThatAreRemoved(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	s := open(t, Config{})
	b, err := s.Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	l, err := s.Log(ctx, LogConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for what, try := range map[string]func() error{
		"Get":    func() error { _, err := b.Get(ctx, "k"); return unless(err, ErrNotFound) },
		"Put":    func() error { return b.Put(ctx, "k", nil) },
		"Keys":   func() error { _, err := b.Keys(ctx); return err },
		"Delete": func() error { return b.Delete(ctx, "k") },
		"Append": func() error { _, err := l.Append(ctx, "list", nil, 0); return err },
		"Last":   func() error { _, err := l.Last(ctx, "list"); return unless(err, ErrNotFound) },
		"Names":  func() error { _, err := l.Names(ctx, ">"); return err },
	} {
		g.Expect(s.js.DeleteStream(ctx, "KV_test")).To(gomega.Succeed())
		g.Expect(s.js.DeleteStream(ctx, "LOG_test")).To(gomega.Succeed())
		g.Eventually(try, patience).Should(gomega.Succeed(), what)
		g.Expect(b.Put(ctx, "other", nil)).To(gomega.Succeed(), what)
		_, err = l.Append(ctx, "other", nil, 0)
		g.Expect(err).NotTo(gomega.HaveOccurred(), what)
	}
}

func TestVersions(t *testing.T) {
	g, ctx, dir := gomega.NewWithT(t), t.Context(), newFolder(t)
	s, err := Open(ctx, Config{Dir: dir})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var steps []int
	step := func(n int, err error) migration {
		return func(context.Context, *Store) error { steps = append(steps, n); return err }
	}
	broken := errors.New("broken")
	g.Expect(s.migrate(ctx, []migration{step(1, nil), step(2, broken)})).To(gomega.MatchError(broken))
	g.Expect(s.migrate(ctx, []migration{step(1, nil), step(2, nil)})).To(gomega.Succeed())
	g.Expect(s.migrate(ctx, []migration{step(1, nil), step(2, nil)})).To(gomega.Succeed())
	g.Expect(steps).To(gomega.Equal([]int{1, 2, 2}), "each step once, and again only after it failed")
	g.Expect(s.Close()).To(gomega.Succeed())

	_, err = Open(ctx, Config{Dir: dir})
	g.Expect(err).To(gomega.MatchError(ErrNewer))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("version 3")))
}

// A NATS server that allows too little says how much the program needs.
func TestANATSServerWithLittleRoom(t *testing.T) {
	g := gomega.NewWithT(t)
	small, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 8 << 20, NoSigs: true, NoLog: true,
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	small.Start()
	t.Cleanup(func() {
		small.Shutdown()
		small.WaitForShutdown()
	})
	g.Expect(small.ReadyForConnections(startTimeout)).To(gomega.BeTrue())
	s := open(t, Config{URL: small.ClientURL(), MaxBytes: 100 << 20})
	want := gomega.And(gomega.MatchError(ErrFull), gomega.MatchError(gomega.ContainSubstring("the 50 MB that it may take: set max_file_store in the section jetstream of its configuration to 200 MB or more")))
	_, err = s.Bucket(t.Context(), BucketConfig{Name: "tests"})
	g.Expect(err).To(want)
	_, err = s.Log(t.Context(), LogConfig{Name: "tests"})
	g.Expect(err).To(want)
}

// Files that were damaged while no process used them: the store starts with what can be read, and the log says what is lost.
func TestDamagedFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := newFolder(t)
	s, err := Open(t.Context(), Config{Dir: folder})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	l, err := s.Log(t.Context(), LogConfig{Name: "tests", MaxBytes: 1 << 20})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for n := range uint64(20) {
		_, err = l.Append(t.Context(), "one", bytes.Repeat([]byte{'x'}, 1000), n)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(s.Close()).To(gomega.Succeed())
	files, err := filepath.Glob(filepath.Join(folder, "jetstream", "jetstream", "*", "streams", "LOG_tests", "msgs", "1.blk"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(files).To(gomega.HaveLen(1))
	text, err := os.ReadFile(files[0])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	text[len(text)/2] ^= 1
	g.Expect(os.WriteFile(files[0], text, 0o600)).To(gomega.Succeed())
	g.Expect(os.RemoveAll(filepath.Join(filepath.Dir(files[0]), "index.db"))).To(gomega.Succeed()) // as after kill -9

	var said bytes.Buffer
	s = open(t, Config{Dir: folder, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	l, err = s.Log(t.Context(), LogConfig{Name: "tests", MaxBytes: 1 << 20})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = l.Next(t.Context(), "one", 0)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "what is before the damage is there")
	g.Expect(said.String()).To(gomega.ContainSubstring("the store has lost entries"))
}
