package wire

// Tests of strings and numbers in JSON against encoding/json.

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

func TestStringsAgreeWithEncodingJSON(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, s := range []string{
		"", "plain", `quote " and \ slash /`, "\x00\x01\x1f\x7f", "line\nfeed\r\ttab\b\f", "äöü 漢字 🎧", "<&>", "\u2028\u2029",
		"\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x8e", "\ufffd", "mixed \xffé\x1e🎧\xe2\x82",
	} {
		text := AppendString(nil, s)
		var back string
		g.Expect(json.Unmarshal(text, &back)).To(gomega.Succeed(), "%q", text)
		standard, err := json.Marshal(s)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		var want string
		g.Expect(json.Unmarshal(standard, &want)).To(gomega.Succeed())
		g.Expect(back).To(gomega.Equal(want))
		ours, ok := Raw(standard).Text()
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(ours).To(gomega.Equal(want))
	}
}

func TestEscapesAgreeWithEncodingJSON(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{
		`"\u0041\u00e9\u6f22"`, `"\ud83c\udfa7"`, `"\uD83C\uDFA7!"`, `"\ud83c"`, `"\ud83cx"`, `"\ud83c\n"`, `"\ud83c\u0041"`, `"\udfa7\ud83c"`,
		`"\ud83c\ud83c\udfa7"`, `"\"\\\/\b\f\n\r\t"`, `"\u0000"`, "\"\xff\\u0041\xc3\"", `"\ud83c\udfa"`, `"\ud83c\"`, `"\ufffe\uffff"`,
		`"\udc00\udc00"`, `"\udbff\udfff"`, `"\ud800\udc00"`, `"\ue000\udc00"`,
	} {
		var want string
		wantOK := json.Unmarshal([]byte(text), &want) == nil
		got, ok := Raw(text).Text()
		g.Expect(ok).To(gomega.Equal(wantOK), text)
		g.Expect(got).To(gomega.Equal(want), text)
	}
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"0": 0, "-0": 0, "7": 7, "-1500": -1500, "1.0": 1, "1.50e1": 15, "15e2": 1500, "1e3": 1000, "1000e-3": 1, "0e99999999": 0, "0.000": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9223372036854775808": nil,
		"-9223372036854775809": nil, "1e19": nil, "1.5": nil, "1e-1": nil, "1e99999999999999999999": nil, "123456789012345678901234567890": nil,
	} {
		t.Run(text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			n, ok := parseInt([]byte(text))
			g.Expect(ok).To(gomega.Equal(want != nil))
			if ok {
				g.Expect(n).To(gomega.BeNumerically("==", want))
			}
		})
	}
	g := gomega.NewWithT(t)
	for _, n := range []int64{0, 1, -1, 9, 10, 99, -100, math.MaxInt64, math.MinInt64} {
		g.Expect(string(appendInt(nil, n))).To(gomega.Equal(strconv.FormatInt(n, 10)))
	}
}

func TestNumbersKeepFifteenDigits(t *testing.T) {
	g := gomega.NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		// A number as somebody may write it: up to 15 digits, anywhere between 1e-21 and 1e21.
		mantissa := random.Int64N(int64(math.Pow10(1 + random.IntN(15))))
		text := strconv.FormatInt(mantissa, 10) + "e" + strconv.Itoa(random.IntN(26)-20)
		want, err := strconv.ParseFloat(text, 64)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if want >= maxNumber || want != 0 && want < 1/maxNumber {
			continue
		}
		got, ok := parseFloat([]byte(text))
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(got).To(gomega.Equal(want), text)

		written := AppendFloat(nil, want)
		g.Expect(json.Valid(written)).To(gomega.BeTrue(), "%s", written)
		back, err := strconv.ParseFloat(string(written), 64)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(back).To(gomega.Equal(want), "%s as %s", text, written)
	}
}

func TestNumbersAreShort(t *testing.T) {
	for want, f := range map[string]float64{
		"0": 0, "0.5": 0.5, "1": 1, "1.5": 1.5, "-0.25": -0.25, "1.32": 1.32, "600": 600, "0.1": 0.1, "0.001": 0.001, "12345.678": 12345.678,
		"0.333333333333333": 1.0 / 3, "1000000": 1e6, "100000000000000000": 1e17, "100000000000000000e3": 1e20, "999999999999999000e3": math.MaxFloat64,
		"0.000000000000001": 1e-15, "1e-19": 1e-19, "-999999999999999000e3": math.Inf(-1),
	} {
		t.Run(want, func(t *testing.T) {
			gomega.NewWithT(t).Expect(string(AppendFloat(nil, f))).To(gomega.Equal(want))
		})
	}
	g := gomega.NewWithT(t)
	g.Expect(string(AppendFloat(nil, math.NaN()))).To(gomega.Equal("0"))
	g.Expect(string(AppendFloat(nil, 1e-300))).To(gomega.Equal("0"))
}

func TestNumbersOutOfRange(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{"1e21", "-1e21", "1e400", "1e999999999999", "123456789012345678901234567890"} {
		_, ok := parseFloat([]byte(text))
		g.Expect(ok).To(gomega.BeFalse(), text)
	}
	for _, text := range []string{"1e-22", "1e-400", "0.1e-999999999999", "0"} {
		f, ok := parseFloat([]byte(text))
		g.Expect(ok).To(gomega.BeTrue(), text)
		g.Expect(f).To(gomega.BeZero(), text)
	}
}

func TestBase64AgreesWithTheStandard(t *testing.T) {
	g := gomega.NewWithT(t)
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 100 {
		audio := make([]byte, n)
		for i := range audio {
			audio[i] = byte(random.Uint32())
		}
		text := base64.StdEncoding.EncodeToString(audio)
		g.Expect(string(appendBase64([]byte("x"), audio))).To(gomega.Equal("x" + text))
		for _, spelling := range []string{text, base64.RawStdEncoding.EncodeToString(audio)} {
			back, ok := decodeBase64([]byte(spelling))
			g.Expect(ok).To(gomega.BeTrue(), spelling)
			g.Expect(back).To(gomega.Equal(audio), spelling)
		}
	}
}

func TestBase64Refuses(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{"A", "AAAAA", "=", "==", "A===", "====", "AA=A", "=AAA", "AAA=AAAA", "AA=", "A-AA", "AA_A", "AA A", "AA\nA", "äAA", "AAAA===="} {
		_, ok := decodeBase64([]byte(text))
		g.Expect(ok).To(gomega.BeFalse(), "%q", text)
	}
}

func TestRawFindsItsParts(t *testing.T) {
	g := gomega.NewWithT(t)
	r := Raw(` {"a":1, "b\u0063": {"d" : "x\ny"}, "a" : [2,{}] } `)
	a, ok := r.Field("a")
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(string(a)).To(gomega.Equal(`[2,{}]`))
	bc, _ := r.Field("bc")
	d, _ := bc.Field("d")
	text, ok := d.Text()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(text).To(gomega.Equal("x\ny"))
	for _, other := range []Raw{nil, Raw(`[]`), Raw(`{"a":`), Raw(`{}`), Raw(`{"b":1}`), Raw(`{"a":1}}`)} {
		_, ok := other.Field("a")
		g.Expect(ok).To(gomega.BeFalse(), "%s", other)
		_, ok = other.Text()
		g.Expect(ok).To(gomega.BeFalse(), "%s", other)
	}
}

// What is not UTF-8 must not reach a text frame, not even inside a value that is kept as it came.
func TestRawIsMadeUTF8(t *testing.T) {
	g := gomega.NewWithT(t)
	e, err := DecodeClient([]byte("{\"type\":\"session.update\",\"session\":{\"model\":\"\xff\"}}"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(e.(*SessionUpdate).Session)).To(gomega.Equal("{\"model\":\"\ufffd\"}"))
}

func TestABadRawDoesNotSpoilTheMessage(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, bad := range []Raw{Raw(`{"a":`), Raw(``), Raw(`}`), Raw(`1,"type":"x"`)} {
		b := AppendServer(nil, &ResponseDone{Response: Response{Metadata: bad}})
		response := view(t, b).(map[string]any)["response"]
		g.Expect(response).To(gomega.HaveKeyWithValue("metadata", gomega.BeNil()))
	}
}
