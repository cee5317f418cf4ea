package voice

// This file changes the sample rate of a stream.

import (
	"slices"
	"strconv"
)

// RateError is the error for a pair of sample rates that a Resampler does not support.
type RateError struct {
	From, To int // hertz
}

// Error implements error.
func (e *RateError) Error() string {
	return "voice: cannot resample from " + strconv.Itoa(e.From) + " Hz to " + strconv.Itoa(e.To) +
		" Hz: each rate must be 8000, 16000, 22050, 24000, 44100 or 48000"
}

// resampleBlock is how many input samples are put into the history at a time. It limits the memory for input of any size.
const resampleBlock = 512

// Resampler converts a mono stream from one sample rate to another with a band-limited polyphase filter.
//
// Output sample k belongs to the time of input sample k*from/to: the delay of the filter is compensated. There is a latency: an output sample comes out when Latency input samples after its time have
// come in. Flush returns the rest at the end of a stream.
//
// The result does not depend on how the stream is cut into calls, to the last bit. Only one goroutine at a time may use a Resampler.
type Resampler struct {
	from, to int       // as asked for
	up, down int       // from:to reduced: up/down = to/from
	taps     int       // coefficients a phase
	bank     []float32 // up phases of taps coefficients, first one meets the oldest sample
	step     []int     // per phase: input samples to go on after its output
	after    []int     // per phase: that of the output after it

	history []float32 // input that is still needed; the next output starts at its first sample
	silent  int       // how many of the last samples of the history are 0
	skip    int       // input samples to drop before the next output
	phase   int       // phase of the next output
	in, out Samples   // since the start or the last Flush
}

// NewResampler returns a resampler from one rate to another, both in hertz and among 8000, 16000, 22050, 24000, 44100 and 48000;
// for any other rate it returns a *RateError. Equal rates copy without latency.
func NewResampler(from, to int) (*Resampler, error) {
	if !knownRate(from) || !knownRate(to) {
		return nil, &RateError{From: from, To: to}
	}
	d := gcd(from, to)
	r := &Resampler{from: from, to: to, up: to / d, down: from / d}
	if from != to {
		r.bank, r.taps = designBank(r.up, r.down)
		r.step, r.after = make([]int, r.up), make([]int, r.up)
		for p := range r.step {
			r.step[p], r.after[p] = (p+r.down)/r.up, (p+r.down)%r.up
		}
		r.history = make([]float32, 0, r.taps+resampleBlock)
	}
	r.Reset()
	return r, nil
}

// Another returns a resampler for another stream between the same rates. It shares the filter.
func (r *Resampler) Another() *Resampler {
	o := *r
	o.history = make([]float32, 0, cap(r.history))
	o.Reset()
	return &o
}

// Latency returns how many input samples must follow the moment of an output sample before it can come out.
func (r *Resampler) Latency() Samples { return Samples(r.taps / 2) }

// Reset starts a new stream.
func (r *Resampler) Reset() {
	r.phase, r.skip, r.in, r.out = 0, 0, 0, 0
	if r.taps > 0 {
		// The first output is centred on the first input sample: silence is assumed before it.
		r.history = r.history[:r.taps/2-1]
		clear(r.history)
		r.silent = len(r.history)
	}
}

// Append converts src, the next piece of the stream in [-1, 1], and appends the output to dst. It does not keep
// src, and allocates only when dst has too little capacity. A steep signal near full scale may overshoot [-1, 1].
func (r *Resampler) Append(dst, src []float32) []float32 {
	r.in += Samples(len(src))
	if r.taps == 0 {
		r.out += Samples(len(src))
		return append(dst, src...)
	}
	for len(src) > 0 {
		src = r.take(src)
		if rounds := (len(r.history) - r.taps - r.skip) / r.down; rounds > 0 && r.silent >= len(r.history) { // silence passes by rounds of all phases
			dst = append(dst, make([]float32, rounds*r.up)...)
			r.skip, r.out = r.skip+rounds*r.down, r.out+Samples(rounds*r.up)
		}
		for r.ready() {
			dst = append(dst, r.next())
		}
	}
	return dst
}

// AppendFloats is Append from 16-bit samples. Silence takes little time once the filter has no sound left.
func (r *Resampler) AppendFloats(dst []float32, src []int16) []float32 {
	r.in += Samples(len(src))
	if r.taps == 0 {
		r.out += Samples(len(src))
		return PCM16ToFloat(dst, src)
	}
	if r.silent >= len(r.history) && !slices.ContainsFunc(src, func(x int16) bool { return x != 0 }) {
		return r.pass(dst, len(src))
	}
	for len(src) > 0 {
		src = r.takePCM16(src)
		for r.ready() {
			dst = append(dst, r.next())
		}
	}
	return dst
}

// pass lets n samples of silence pass a filter that has no sound left.
func (r *Resampler) pass(dst []float32, n int) []float32 {
	length := len(r.history) + n
	if rounds := (length - r.taps - r.skip) / r.down; rounds > 0 {
		dst = append(dst, make([]float32, rounds*r.up)...)
		r.skip, r.out = r.skip+rounds*r.down, r.out+Samples(rounds*r.up)
	}
	for r.skip+r.taps <= length {
		dst = append(dst, 0)
		r.goOn()
	}
	dropped := min(r.skip, length)
	kept := length - dropped
	r.skip -= dropped
	r.history, r.silent = r.history[:kept], kept
	clear(r.history)
	return dst
}

// AppendPCM16 is Append on 16-bit samples: the same filter, rounded to the nearest and clipped.
func (r *Resampler) AppendPCM16(dst, src []int16) []int16 {
	r.in += Samples(len(src))
	if r.taps == 0 {
		r.out += Samples(len(src))
		return append(dst, src...)
	}
	for len(src) > 0 {
		src = r.takePCM16(src)
		for r.ready() {
			dst = append(dst, toPCM16(r.next()))
		}
	}
	return dst
}

// Flush ends the stream and starts a new one. It appends the output that the latency has held back, as if silence followed the last sample.
// In all, ceil(in*to/from) samples have come out then.
func (r *Resampler) Flush(dst []float32) []float32 {
	for r.pending() {
		dst = append(dst, r.next())
	}
	r.Reset()
	return dst
}

// FlushPCM16 is Flush on 16-bit samples.
func (r *Resampler) FlushPCM16(dst []int16) []int16 {
	for r.pending() {
		dst = append(dst, toPCM16(r.next()))
	}
	r.Reset()
	return dst
}

// pending reports whether another output sample belongs to the input so far. If so, it gives the filter the silence that this sample needs.
func (r *Resampler) pending() bool {
	if r.taps == 0 || r.out*Samples(r.down) >= r.in*Samples(r.up) {
		return false
	}
	var silence [1]float32
	for !r.ready() {
		r.take(silence[:])
	}
	return true
}

// take drops the history that no output needs, moves input into the history, and returns the rest of the input.
func (r *Resampler) take(src []float32) []float32 {
	n := r.room(len(src))
	r.history = append(r.history, src[:n]...)
	r.came(n)
	return src[n:]
}

func (r *Resampler) takePCM16(src []int16) []int16 {
	n := r.room(len(src))
	r.history = PCM16ToFloat(r.history, src[:n])
	r.came(n)
	return src[n:]
}

// came notes that n samples came into the history.
func (r *Resampler) came(n int) {
	silent := 0
	for silent < n && r.history[len(r.history)-1-silent] == 0 {
		silent++
	}
	if r.silent += n; silent < n {
		r.silent = silent
	}
	r.drop()
}

// room makes room at the end of the history and returns how many of n input samples fit.
func (r *Resampler) room(n int) int {
	r.drop()
	return min(n, cap(r.history)-len(r.history))
}

// drop removes the input before the next output.
func (r *Resampler) drop() {
	n := min(r.skip, len(r.history))
	if n == 0 {
		return
	}
	r.skip -= n
	r.history = r.history[:copy(r.history, r.history[n:])]
}

// ready reports whether the history contains all that the next output needs.
func (r *Resampler) ready() bool { return r.skip+r.taps <= len(r.history) }

// next computes the next output sample. Silence needs no filter.
func (r *Resampler) next() (y float32) {
	if r.skip+r.silent < len(r.history) {
		y = dot(r.history[r.skip:r.skip+r.taps], r.bank[r.phase*r.taps:(r.phase+1)*r.taps])
	}
	r.goOn()
	return y
}

// goOn moves on by one output sample.
func (r *Resampler) goOn() {
	r.skip += r.step[r.phase]
	r.phase = r.after[r.phase]
	r.out++
}

func knownRate(rate int) bool {
	switch rate {
	case 8000, 16000, 22050, 24000, 44100, 48000:
		return true
	}
	return false
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
