package phones

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
)

const root = "../.."

// patience bounds a wait. Only a failure takes the whole time.
const patience = 40 * time.Second

// house is a running bin/antiphon that takes telephone calls.
type house struct {
	*rig.Program
	g      *gomega.WithT
	sip    string // HOST:PORT
	record string
	told   string // by the last softphone, on its terminal
}

// desk has a trunk with a password.
const desk = "phones: {trunks: [{name: desk, user: desk, key_file: password}]}\n"

// open starts the server. config is antiphon.yaml; without one the telephones of this machine may call. keys are the lines of its API keys.
func open(t *testing.T, config string, keys ...string) *house {
	t.Helper()
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	h := &house{g: g, record: filepath.Join(folder, "record.jsonl")}
	var err error
	h.sip, err = rig.FreeAddress()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	args := []string{"--listen", "127.0.0.1:0", "--sip", h.sip, "--record", h.record, "--pipeline", "scripted"}
	if config != "" {
		g.Expect(os.WriteFile(filepath.Join(folder, "password"), []byte("a-good-password\n"), 0o600)).To(gomega.Succeed())
		path := filepath.Join(folder, "antiphon.yaml")
		g.Expect(os.WriteFile(path, []byte(config), 0o600)).To(gomega.Succeed())
		args = append(args, "--config", path)
	}
	if len(keys) > 0 {
		path := filepath.Join(folder, "keys")
		g.Expect(os.WriteFile(path, []byte(strings.Join(keys, "\n")), 0o600)).To(gomega.Succeed())
		args = append(args, "--api-key-file", path)
	}
	h.Program, err = rig.Start(root, args...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(h.Kill)
	return h
}

// recorded returns what the server has recorded so far.
func (h *house) recorded() string {
	text, err := os.ReadFile(h.record)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	return string(text)
}

// sipp runs a scenario: a name of one that sipp has, or a file of testdata.
func (h *house) sipp(t *testing.T, scenario string, more ...string) {
	t.Helper()
	cmd := h.sippCommand(t, scenario, more...)
	said, err := cmd.CombinedOutput()
	h.g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", said)
}

func (h *house) sippCommand(t *testing.T, scenario string, more ...string) *exec.Cmd {
	t.Helper()
	args := []string{h.sip, "-i", "127.0.0.1", "-m", "1", "-timeout", "30s", "-timeout_error", "-nostdin", "-aa"}
	if file, err := filepath.Abs("testdata/" + scenario + ".xml"); err == nil && exists(file) {
		args = append(args, "-sf", file)
	} else {
		args = append(args, "-sn", scenario)
	}
	port, err := rig.FreeAddress()
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, number, _ := strings.Cut(port, ":")
	cmd := exec.Command("sipp", append(append(args, "-p", number), more...)...)
	cmd.Dir = t.TempDir()
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestSipp(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	h.sipp(t, "uac", "-m", "8", "-r", "8", "-d", "500")
	h.sipp(t, "uac", "-t", "t1", "-m", "2", "-d", "100")
	h.sipp(t, "hold")
	h.sipp(t, "late-ack")
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}

func TestSippWithAPassword(t *testing.T) {
	t.Parallel()
	h := open(t, desk)
	h.sipp(t, "password", "-m", "3")
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}

// The server registers at a registrar of others, which checks its credentials.
func TestRegistersAtSipp(t *testing.T) {
	t.Parallel()
	at, err := rig.FreeAddress()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	h := open(t, "phones: {trunks: [{name: provider, addresses: [127.0.0.1], register: {server: \""+at+"\", user: \"4930123\", key_file: password}}]}\n")
	_, port, _ := strings.Cut(at, ":")
	h.sipp(t, "registrar", "-p", port)
	h.sipp(t, "uac", "-d", "100")
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}

// A telephone of others calls, a person's recording is its microphone, and what its loudspeaker plays is recorded.
func TestBaresip(t *testing.T) {
	for _, codec := range []string{"PCMU", "G722", "opus"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			h := open(t, "phones: {greeting: Krume bakery}\n")
			heard := h.baresip(t, codec)
			events := h.recorded()
			for _, event := range []string{"input_audio_buffer.speech_started", "input_audio_buffer.committed", "response.done"} {
				h.g.Expect(events).To(gomega.ContainSubstring(`"`+event+`"`), "the server has heard the person, and answered")
			}
			h.g.Expect(events).To(gomega.ContainSubstring(`"transcript":"Krume bakery"`), "the agent speaks first")
			h.g.Expect(loudest(heard)).To(gomega.BeNumerically(">", 1000), "the telephone plays the agent")
			h.g.Expect(h.Stop()).To(gomega.Succeed())
		})
	}
}

// module is the part of baresip that has a codec.
var module = map[string]string{"PCMU": "g711", "G722": "g722", "opus": "opus"}

// rate is the sample rate of baresip's microphone, by codec.
var rate = map[string]int{"PCMU": 8000, "G722": 16000, "opus": 48000}

// baresip calls the server, speaks, listens, hangs up, and returns what it has played.
func (h *house) baresip(t *testing.T, codec string) []int16 {
	t.Helper()
	folder := t.TempDir()
	h.softphone(folder, codec, "127.0.0.1:0", "<sip:caller@127.0.0.1>")
	return h.plays(folder, func() {}, "-e", "/dial sip:agent@"+h.sip)
}

// softphone configures baresip with an account. more are further lines of its configuration.
func (h *house) softphone(folder, codec, listen, account string, more ...string) {
	write := func(name, text string) {
		h.g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)).To(gomega.Succeed())
	}
	h.speech(filepath.Join(folder, "in.wav"), rate[codec])
	write("config", fmt.Sprintf("sip_listen %[3]s\naudio_source aufile,%[1]s/in.wav\naudio_player aubridge,none\nsnd_path %[1]s\nmodule_path /usr/lib/baresip/modules\n"+
		"module %[2]s.so\nmodule aufile.so\nmodule aubridge.so\nmodule sndfile.so\nmodule_app account.so\nmodule_app menu.so\n%[4]s\n", folder, module[codec], listen, strings.Join(more, "\n")))
	write("accounts", account+";regint=0\n")
	write("contacts", "")
}

// plays runs baresip, and returns what it has played in its only call.
func (h *house) plays(folder string, meanwhile func(), args ...string) []int16 {
	calls := h.telephone(folder, meanwhile, args...)
	h.g.Expect(calls).To(gomega.HaveLen(1))
	return calls[0]
}

// telephone runs baresip, and returns what it has played in each call.
func (h *house) telephone(folder string, meanwhile func(), args ...string) (calls [][]int16) {
	cmd := exec.Command("baresip", append([]string{"-f", folder, "-t", "9"}, args...)...)
	cmd.WaitDelay = patience
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	h.g.Expect(cmd.Start()).To(gomega.Succeed())
	meanwhile()
	err := cmd.Wait()
	h.g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", &out)
	h.told = out.String()
	played, err := filepath.Glob(filepath.Join(folder, "dump-*-dec.wav"))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range played {
		text, err := os.ReadFile(path)
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
		pcm := make([]int16, 0, len(text)/2)
		for i := 44; i+1 < len(text); i += 2 {
			pcm = append(pcm, int16(text[i])|int16(text[i+1])<<8)
		}
		calls = append(calls, pcm)
	}
	return calls
}

// speech writes a sentence of a person with silence around it.
func (h *house) speech(path string, rate int) {
	pcm, err := human.Prompt("vm-intro")
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm = pcm[:min(len(pcm), 3*human.Rate)]
	r, err := voice.NewResampler(human.Rate, rate)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	quiet := make([]int16, rate)
	all := r.FlushPCM16(r.AppendPCM16(append([]int16(nil), quiet...), pcm))
	for range 8 {
		all = append(all, quiet...)
	}
	channels := 1
	if rate == 48_000 {
		channels = 2 // its Opus has two
	}
	file := wav.Header(rate, 2*channels*len(all))
	file[22], file[32] = byte(channels), byte(2*channels)
	binary.LittleEndian.PutUint32(file[28:], uint32(2*channels*rate))
	for _, s := range all {
		for range channels {
			file = append(file, byte(s), byte(s>>8))
		}
	}
	h.g.Expect(os.WriteFile(path, file, 0o600)).To(gomega.Succeed())
}

// loudest returns the highest loudness of 800 samples.
func loudest(pcm []int16) (most float64) {
	for len(pcm) >= 800 {
		sum := 0.
		for _, s := range pcm[:800] {
			sum += float64(s) * float64(s)
		}
		most = max(most, math.Sqrt(sum/800))
		pcm = pcm[800:]
	}
	return most
}

// Messages that torture a parser, after the kinds of RFC 4475, written for this test. After all of them the server still takes calls.
func TestTorture(t *testing.T) {
	t.Parallel()
	h := open(t, "")
	conn, err := net.Dial("udp", h.sip)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = conn.Close() }()
	for _, message := range torture() {
		_, err := conn.Write([]byte(message))
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	h.sipp(t, "uac", "-d", "100")
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}
