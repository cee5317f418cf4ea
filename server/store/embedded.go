package store

// The NATS server inside this process. It has no port: the store is its only client.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/antiphon-rt/antiphon/server/internal/disk"
)

// embedded is a running server, the lock of its folder, and the folder to remove at the end if everything is in memory.
type embedded struct {
	server *server.Server
	lock   *os.File
	remove string
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
	return "", fmt.Errorf("a folder for temporary files: %w: set TMPDIR to a folder that this user can write", err)
}

func (e *embedded) start(ctx context.Context, cfg Config, folder string) (err error) {
	e.lock, err = disk.Lock(folder)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("%w: %s: end the other one, or name another folder", ErrInUse, folder)
	}
	if err != nil {
		return fmt.Errorf("the data folder: %w", err)
	}
	e.server, err = server.NewServer(&server.Options{
		ServerName: "antiphon", DontListen: true, NoSigs: true, DisableJetStreamBanner: true,
		JetStream: true, StoreDir: filepath.Join(folder, "jetstream"), SyncAlways: !cfg.Unsynced,
		JetStreamMaxMemory: 2 * cfg.MaxBytes, JetStreamMaxStore: 2 * cfg.MaxBytes, // the buckets have the limits
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e.server.SetLoggerV2(natsLog{cfg.Logger}, false, false, false)
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

// close ends the server within closeTimeout, and then unlocks the folder.
func (e *embedded) close() (err error) {
	if e.server != nil {
		ended := make(chan struct{})
		go func() {
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

// natsLog gives the warnings and errors of the NATS server to our log. Its notices of each start are for debugging.
type natsLog struct{ to *slog.Logger }

func (l natsLog) Noticef(format string, v ...any) { l.log(slog.LevelDebug, format, v) }
func (l natsLog) Warnf(format string, v ...any)   { l.log(slog.LevelWarn, format, v) }
func (l natsLog) Errorf(format string, v ...any)  { l.log(slog.LevelError, format, v) }
func (l natsLog) Fatalf(format string, v ...any)  { l.log(slog.LevelError, format, v) }
func (l natsLog) Debugf(format string, v ...any)  { l.log(slog.LevelDebug, format, v) }
func (l natsLog) Tracef(format string, v ...any)  { l.log(slog.LevelDebug, format, v) }

func (l natsLog) log(level slog.Level, format string, v []any) {
	l.to.Log(context.Background(), level, "store: "+fmt.Sprintf(format, v...))
}
