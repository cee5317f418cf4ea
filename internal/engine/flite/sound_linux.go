package flite

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The file that flite writes its sound to, on Linux: memory without a name in the file system. Flite reopens its output file, so a
// pipe does not serve.

// sound is the file.
type sound struct{ *os.File }

// soundFile returns an empty file, and its path for a process that inherits it.
func soundFile() (s sound, path string, err error) {
	fd, err := unix.MemfdCreate("flite", unix.MFD_CLOEXEC)
	if err != nil {
		return s, "", err
	}
	return sound{os.NewFile(uintptr(fd), "flite")}, "/dev/fd/3", nil
}

// inherited returns the files that the process inherits, the first as descriptor 3.
func (s sound) inherited() []*os.File { return []*os.File{s.File} }

// read returns what was written.
func (s sound) read() ([]byte, error) {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(s.File, maxAudio))
}

func (s sound) close() { _ = s.Close() } // nothing is lost
