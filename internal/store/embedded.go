package store

// The NATS server inside this process. It has no port: the store is its only client.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/antiphon-rt/antiphon/internal/disk"
)

// embedded is a running server, the lock of its folder, and the folder to remove at the end if everything is in memory.
type embedded struct {
	server *server.Server
	files  server.JetStreamConfig
	lock   *os.File
	remove string

	failed    atomic.Bool // a write to the disk has failed: the server refuses all later ones
	mu        sync.Mutex
	repairing chan struct{} // closed when the server has read its files again; nil if it does not do that
	repaired  error         // the outcome
}

// startServer locks the folder and starts the server. Without a folder, the server has a temporary one for its own names.
func startServer(ctx context.Context, cfg Config) (*embedded, error) {
	e := &embedded{}
	folder := cfg.Dir
	if folder == "" {
		var err error
		if folder, err = tempFolder(); err != nil {
			return nil, err
		}
		e.remove = folder
	} else if err := makeFolder(folder); err != nil {
		return nil, fmt.Errorf("the data folder: %w", err)
	}
	if err := e.start(ctx, cfg, folder); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// tempFolder makes a folder for temporary files: in the memory of the machine if the usual place cannot be written, as in a container whose files are
// read-only.
func tempFolder() (string, error) {
	const name = "antiphon-store-"
	folder, err := os.MkdirTemp("", name)
	if err == nil {
		return folder, nil
	}
	if folder, inMemory := os.MkdirTemp("/dev/shm", name); inMemory == nil {
		return folder, nil
	}
	return "", fmt.Errorf("%w: %w", ErrNoFolder, err)
}

func (e *embedded) start(ctx context.Context, cfg Config, folder string) (err error) {
	e.lock, err = disk.Lock(folder)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%w: %s: end the other one, or name another folder", ErrInUse, folder)
	}
	if err != nil {
		return fmt.Errorf("the data folder: %w", err)
	}
	e.files = server.JetStreamConfig{
		StoreDir: filepath.Join(folder, "jetstream"), SyncAlways: !cfg.Unsynced, MaxMemory: 2 * cfg.MaxBytes, MaxStore: 2 * cfg.MaxBytes, // the buckets have the limits
	}
	e.server, err = server.NewServer(&server.Options{
		ServerName: "antiphon", DontListen: true, NoSigs: true, DisableJetStreamBanner: true,
		JetStream: true, StoreDir: e.files.StoreDir, SyncAlways: e.files.SyncAlways, JetStreamMaxMemory: e.files.MaxMemory, JetStreamMaxStore: e.files.MaxStore,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e.server.SetLoggerV2(natsLog{cfg.Logger, &e.failed}, false, false, false)
	ready := make(chan bool, 1)
	go func() {
		e.server.Start()
		ready <- e.server.ReadyForConnections(startTimeout)
	}()
	select {
	case ok := <-ready:
		if !ok || !e.server.JetStreamEnabled() {
			return fmt.Errorf("%w: its server did not start on %s: the log says why", ErrUnavailable, folder)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: its server did not start on %s: %w", ErrUnavailable, folder, context.Cause(ctx))
	}
}

// present returns an error if the folder is no longer the one that the server has locked. Its open files then lead nowhere, and another process can begin in a new
// folder of that name.
func (e *embedded) present(folder string) error {
	locked, err := e.lock.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	there, err := os.Stat(e.lock.Name())
	if err != nil || !os.SameFile(locked, there) {
		return fmt.Errorf("%w: the data folder %s was removed or replaced: start this program again", ErrUnavailable, folder)
	}
	return nil
}

// broken reports whether a write to the disk has failed. The server then writes nothing more to that bucket, also when the disk has room again.
func (e *embedded) broken() bool { return e.failed.Load() || !e.server.JetStreamEnabled() }

// repair has a broken server read its files again: then it writes again. What it has acknowledged is in the files. Calls of the store fail meanwhile.
func (e *embedded) repair(ctx context.Context) error {
	e.mu.Lock()
	if e.repairing == nil {
		if !e.broken() {
			e.mu.Unlock()
			return nil
		}
		e.repairing = make(chan struct{})
		go e.readAgain()
	}
	done := e.repairing
	e.mu.Unlock()
	select {
	case <-done:
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.repaired
	case <-ctx.Done():
		return fmt.Errorf("%w: its server still reads its files after a write has failed", ErrUnavailable)
	}
}

func (e *embedded) readAgain() {
	err := e.server.ShutdownJetStream()
	e.failed.Store(false)
	files := e.files // the server changes it
	if err = errors.Join(err, e.server.EnableJetStream(&files)); err != nil {
		err = fmt.Errorf("%w: its server cannot read its files again after a write has failed: %w", ErrUnavailable, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.repairing)
	e.repairing, e.repaired = nil, err
}

// whole returns a channel that closes when the server does not read its files again any more; nil if it does not do that.
func (e *embedded) whole() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.repairing
}

// close ends the server within closeTimeout, and then unlocks the folder.
func (e *embedded) close() (err error) {
	if e.server != nil {
		ended := make(chan struct{})
		go func() {
			if repaired := e.whole(); repaired != nil {
				<-repaired
			}
			e.server.Shutdown()
			e.server.WaitForShutdown()
			close(ended)
		}()
		timeout := time.NewTimer(closeTimeout)
		defer timeout.Stop()
		select {
		case <-ended:
		case <-timeout.C:
			err = fmt.Errorf("the store's server did not end within %v", closeTimeout)
		}
	}
	if e.lock != nil {
		err = errors.Join(err, e.lock.Close())
	}
	if e.remove != "" {
		err = errors.Join(err, os.RemoveAll(e.remove))
	}
	return err
}

// natsLog gives the warnings and errors of the NATS server to our log. Its notices of each start are for debugging. It notes in failed that a write to the disk
// has failed: the server says so nowhere else, and answers such a write never.
type natsLog struct {
	to     *slog.Logger
	failed *atomic.Bool
}

func (l natsLog) Noticef(format string, v ...any) { l.log(slog.LevelDebug, format, v) }
func (l natsLog) Warnf(format string, v ...any)   { l.log(slog.LevelWarn, format, v) }
func (l natsLog) Errorf(format string, v ...any) {
	if strings.Contains(strings.ToLower(format), "critical write error") {
		l.failed.Store(true)
	}
	l.log(slog.LevelError, format, v)
}
func (l natsLog) Fatalf(format string, v ...any) { l.log(slog.LevelError, format, v) }
func (l natsLog) Debugf(format string, v ...any) { l.log(slog.LevelDebug, format, v) }
func (l natsLog) Tracef(format string, v ...any) { l.log(slog.LevelDebug, format, v) }

func (l natsLog) log(level slog.Level, format string, v []any) {
	l.to.Log(context.Background(), level, "store: "+fmt.Sprintf(format, v...))
}
