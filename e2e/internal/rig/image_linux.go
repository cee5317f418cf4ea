package rig

// The image of deploy/Dockerfile without a container's builder: its root as a folder, and a command in it as a user without rights.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// imageUser is the user of the image, who has no rights.
const imageUser = 65532

// Image is the root of the image, with this machine's C library in place of the base image's, and the models that setup.sh has fetched.
type Image struct {
	Root   string
	Models string // the folder on this machine that is /models in the image
	// Env has the lines ENV of the Dockerfile.
	Env []string
	// Entry and Command are ENTRYPOINT and CMD of the Dockerfile.
	Entry, Command []string
}

var (
	imageCopies = regexp.MustCompile(`(?m)^COPY --from=build (\S+) (\S+)$`)
	imageEnv    = regexp.MustCompile(`(?m)^ENV (\S+=\S+)$`)
	imageRuns   = regexp.MustCompile(`(?m)^(ENTRYPOINT|CMD) (\[.*\])$`)
	libraryPath = regexp.MustCompile(`(?m)(/\S+) \(0x`)
)

// NewImage makes the image's root in an empty folder. repository is the path of the repository, whose bin/antiphon exists.
func NewImage(repository, root string) (*Image, error) {
	text, err := os.ReadFile(filepath.Join(repository, "deploy", "Dockerfile"))
	if err != nil {
		return nil, err
	}
	_, last, _ := strings.Cut(string(text), "\nFROM debian:13-slim\n")
	if !strings.Contains(last, fmt.Sprintf("\nUSER %d:%d\n", imageUser, imageUser)) {
		return nil, errors.New("the image's user has rights")
	}
	program := filepath.Join(repository, "bin", "antiphon")
	copies := imageCopies.FindAllStringSubmatch(last, -1)
	if len(copies) != 2 || copies[0][1] != "/models" || copies[1][1] != "/src/bin/antiphon" {
		return nil, fmt.Errorf("the image has %v, and not the models and the program alone", copies)
	}
	models, err := filepath.Abs(filepath.Join(repository, ".cache", "models"))
	if err != nil {
		return nil, err
	}
	i := &Image{Root: root, Models: models}
	for _, m := range imageEnv.FindAllStringSubmatch(last, -1) {
		i.Env = append(i.Env, m[1])
	}
	for _, m := range imageRuns.FindAllStringSubmatch(last, -1) {
		into := &i.Entry
		if m[1] == "CMD" {
			into = &i.Command
		}
		if err := json.Unmarshal([]byte(m[2]), into); err != nil {
			return nil, fmt.Errorf("%s: %w", m[0], err)
		}
	}
	if len(i.Entry) != 1 || i.Entry[0] != copies[1][2] {
		return nil, fmt.Errorf("the image starts %q and has %s", i.Entry, copies[1][2])
	}
	engines, err := filepath.Glob(filepath.Join(models, "*", "*.so"))
	if err != nil {
		return nil, err
	}
	libraries, err := exec.Command("ldd", append(engines, program)...).Output() //nolint:gosec // files that setup.sh has fetched
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w", program, err)
	}
	err = errors.Join(os.Chmod(root, 0o755), i.add(program, i.Entry[0])) //nolint:gosec // the image's user reads it
	for _, m := range libraryPath.FindAllSubmatch(libraries, -1) {
		if !strings.HasPrefix(string(m[1]), models) {
			err = errors.Join(err, i.add(string(m[1]), string(m[1])))
		}
	}
	return i, err
}

// Mount gives the image the folders that a container has: /proc, /tmp and its models. The caller needs a mount namespace of its own. Its end unmounts
// them.
func (i *Image) Mount() error {
	temporary := filepath.Join(i.Root, "tmp")
	if err := errors.Join(os.MkdirAll(temporary, 0o755), os.Chmod(temporary, os.ModeSticky|0o777)); err != nil { //nolint:gosec // as /tmp is
		return err
	}
	for path, from := range map[string]string{"/proc": "/proc", "/models": i.Models} {
		to := filepath.Join(i.Root, path)
		err := os.MkdirAll(to, 0o755) //nolint:gosec // the image's user reads it
		if err == nil {
			err = syscall.Mount(from, to, "", syscall.MS_BIND|syscall.MS_REC, "")
		}
		if err != nil {
			return fmt.Errorf("%s of the image: %w", path, err)
		}
	}
	return nil
}

// add copies a file of this machine into the image.
func (i *Image) add(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	to = filepath.Join(i.Root, to)
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o755)) //nolint:gosec // the image's user runs it
}

// Secret writes a file into the image that its user alone can read.
func (i *Image) Secret(path, text string) error {
	path = filepath.Join(i.Root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil { //nolint:gosec // the image's user reads it
		return err
	}
	if !mapsUser(imageUser) {
		return nil // in the image's namespace the file's owner is its user
	}
	return os.Chown(path, imageUser, imageUser)
}

// Run returns a command of the image's program with these arguments, as the image's user.
func (i *Image) Run(args ...string) *exec.Cmd {
	cmd := exec.Command(i.Entry[0], args...) //nolint:noctx // SIGTERM ends it
	cmd.Dir, cmd.Env = "/", i.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.Root, Pdeathsig: syscall.SIGKILL}
	if mapsUser(imageUser) {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: imageUser, Gid: imageUser}
		return cmd
	}
	// A namespace in which the tests' user is that of the image.
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getgid(), Size: 1}}
	return cmd
}

// mapsUser reports whether this process may become the user: it is root, and its user namespace has that user.
func mapsUser(id int) bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	var inside, outside, size int
	if n, _ := fmt.Sscan(string(text), &inside, &outside, &size); err != nil || n != 3 {
		return false
	}
	return os.Getuid() == 0 && id < size
}
