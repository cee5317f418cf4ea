package sphinx

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline/internal/pipetest"
	"github.com/antiphon-rt/antiphon/voice"
)

func wav(t *testing.T, v, text string) ([]int16, int) {
	f := filepath.Join(t.TempDir(), "x.wav")
	if out, err := exec.Command("flite", "-voice", v, "-t", text, "-o", f).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	b, _ := os.ReadFile(f)
	rate := int(binary.LittleEndian.Uint32(b[24:]))
	return voice.BytesToPCM16(nil, b[44:]), rate
}

func wer(want, got string) (int, int) {
	a, b := strings.Fields(want), strings.Fields(got)
	d := make([]int, len(b)+1)
	for j := range d {
		d[j] = j
	}
	for i := range a {
		prev := d[0]
		d[0] = i + 1
		for j := range b {
			c := prev
			if a[i] != b[j] {
				c++
			}
			prev = d[j+1]
			d[j+1] = min(c, d[j+1]+1, d[j]+1)
		}
	}
	return d[len(b)], len(a)
}

// batch cmn like sphinx
func normal(cs []cepstrum) {
	prior := cepstrum{41.00, -5.29, -0.12, 5.09, 2.48, -4.07, -1.37, -1.78, -5.08, -2.05, -6.45, -1.42, 1.17}
	mode := os.Getenv("CMN")
	if w, err := strconv.ParseFloat(mode, 64); err == nil {
		// running over speech frames
		var sum [ceps]float64
		for i, v := range prior {
			sum[i] = float64(v) * w
		}
		n := w
		top := float32(-1e9)
		for j := range cs {
			top = max(top, cs[j][0])
			if cs[j][0] > top-20 && cs[j][0] > 20 {
				n++
				for i, v := range cs[j] {
					sum[i] += float64(v)
				}
			}
			for i := range sum {
				cs[j][i] -= float32(sum[i] / n)
			}
		}
		return
	}
	var mean [ceps]float64
	n := 0
	top := float32(-1e9)
	for _, c := range cs {
		top = max(top, c[0])
	}
	for _, c := range cs {
		if mode == "speech" && c[0] < top-20 {
			continue
		}
		if mode == "batch" && c[0] < 0 {
			continue
		}
		n++
		for i, v := range c {
			mean[i] += float64(v)
		}
	}
	for j := range cs {
		for i := range mean {
			if mode == "prior" {
				cs[j][i] -= prior[i]
			} else {
				cs[j][i] -= float32(mean[i] / float64(n))
			}
		}
	}
	if os.Getenv("SHOW") != "" {
		for i := range mean {
			fmt.Printf("%.1f ", mean[i]/float64(n))
		}
		fmt.Println(n, len(cs), top)
	}
}

func TestProto(t *testing.T) {
	p, err := Find(Places{})
	if err != nil {
		t.Fatal(err)
	}
	var set []Setting
	for _, f := range strings.Fields(os.Getenv("PSSET")) {
		k, v, _ := strings.Cut(f, "=")
		set = append(set, Setting{k, v})
	}
	t0 := time.Now()
	d, err := Load(p, set...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("load", time.Since(t0))
	sents := []string{"what is two plus two", "count to one hundred", "stop", "wait", "tell me a story", "what time is it", "hello", "how are you",
		"who are you", "what can you do", "thank you", "goodbye", "what is seven times eight", "set a timer for five minutes", "what is the date today",
		"stop please", "no wait", "repeat after me good morning", "count to twenty", "what is nine minus four", "what is the weather in paris", "be quiet", "what is one hundred divided by five", "thanks a lot",
	"i would like to order a large pizza with mushrooms", "the train leaves at half past seven from platform nine", "my grandmother lives in a small house near the river", "please send an email to my brother", "we went to the beach last summer"}
	if os.Getenv("SHORT") != "" {
		sents = append(sents[:5:5], sents[8:]...)
	}
	var busy, audio time.Duration
	for _, v := range strings.Fields(os.Getenv("PSVOICES")) {
		for _, path := range []pipetest.Path{{Lead: 0.3, Bitrate: 32000, Noise: 0.0005}, {Lead: 0.5, Bitrate: 32000, Gain: 0.2}} {
			e, n := 0, 0
			for _, s := range sents {
				pcm, rate := wav(t, v, s)
				x, err := path.Send(pcm, rate)
				if err != nil {
					t.Fatal(err)
				}
				audio += time.Duration(len(x)) * time.Second / 16000
				t1 := time.Now()
				fe := newFrontend()
				fe.floor, _ = strconv.ParseFloat(os.Getenv("FLOOR"), 64)
				cs := fe.write(nil, x)
				normal(cs)
				d.Start()
				var parts []string
				for i := 0; i < len(cs); i += 10 {
					if err := d.Feed(cs[i:min(i+10, len(cs))]); err != nil {
						t.Fatal(err)
					}
					if h := d.Text(); len(parts) == 0 || parts[len(parts)-1] != h {
						parts = append(parts, h)
					}
				}
				d.Finish()
				busy += time.Since(t1)
				got := d.Text()
				de, dn := wer(s, got)
				e += de
				n += dn
				if de > 0 {
					t.Logf("  %s %v: %q -> %q  %q", v, path, s, got, parts)
				}
			}
			t.Logf("%s %+v: WER %d/%d = %.1f%%", v, path, e, n, 100*float64(e)/float64(n))
		}
	}
	t.Logf("RTF %.3f", busy.Seconds()/audio.Seconds())
}
