// Package opus holds gopus, with which the server decodes strangers' Opus packets, beside libopus, the reference. docs/opus.md has the figures.
package opus

// libopus, called in this process without C (purego).

import (
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/onsi/gomega"
)

// library has the functions of a libopus that the tests call. A uintptr is a C object.
type library struct {
	Version       func() string                                                                             `c:"opus_get_version_string"`
	NewDecoder    func(rate, channels int32, status *int32) uintptr                                         `c:"opus_decoder_create"`
	Decode        func(d uintptr, packet *byte, size int32, pcm *int16, samples, redundant int32) int32     `c:"opus_decode"`
	AskDecoder    func(d uintptr, request int32, value *uint32) int32                                       `c:"opus_decoder_ctl"`
	CloseDecoder  func(d uintptr)                                                                           `c:"opus_decoder_destroy"`
	NewEncoder    func(rate, channels, application int32, status *int32) uintptr                            `c:"opus_encoder_create"`
	Encode        func(e uintptr, pcm *int16, samples int32, packet *byte, room int32) int32                `c:"opus_encode"`
	SetEncoder    func(e uintptr, request, value int32) int32                                               `c:"opus_encoder_ctl"`
	CloseEncoder  func(e uintptr)                                                                           `c:"opus_encoder_destroy"`
	Parse         func(packet *byte, size int32, toc *byte, frames *uintptr, sizes *int16, at *int32) int32 `c:"opus_packet_parse"`
	NewRepacker   func() uintptr                                                                            `c:"opus_repacketizer_create"`
	Repack        func(r uintptr, packet *byte, size int32) int32                                           `c:"opus_repacketizer_cat"`
	Repacked      func(r uintptr, packet *byte, room int32) int32                                           `c:"opus_repacketizer_out"`
	CloseRepacker func(r uintptr)                                                                           `c:"opus_repacketizer_destroy"`
	Pad           func(packet *byte, size, padded int32) int32                                              `c:"opus_packet_pad"`
}

// Requests and values of libopus' header opus_defines.h.
const (
	forVoIP, forLowDelay                            = 2048, 2051
	setBitrate, setVBR, setBandwidth, setComplexity = 4002, 4006, 4008, 4010
	setFEC, setLoss, setDTX, finalRange, setMode    = 4012, 4014, 4016, 4031, 11002
)

// The two libraries: Debian's package libopus0, of any version from 1.3.1 on, and the version that gopus follows, which scripts/opus.sh installs
// in the Python package av. Versions differ in how they conceal, and in how they decode garbage; the second one is held to the sample.
var (
	debian = sync.OnceValues(func() (*library, error) { return load("libopus.so.0", "install the Debian package libopus0") })
	pinned = sync.OnceValues(func() (*library, error) {
		found, err := filepath.Glob("../../.cache/opus/av.libs/libopus-*.so*")
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("run scripts/opus.sh: %q, %w", found, err)
		}
		return load(found[0], "run scripts/opus.sh")
	})
)

const pinnedVersion = "libopus 1.6.1"

func load(file, otherwise string) (*library, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", otherwise, err)
	}
	lib := &library{}
	for at, of := range reflect.ValueOf(lib).Elem().Fields() {
		purego.RegisterLibFunc(of.Addr().Interface(), handle, at.Tag.Get("c"))
	}
	return lib, nil
}

// libopus fails the test if this machine does not have the library.
func libopus(t testing.TB, of func() (*library, error)) (*library, *gomega.WithT) {
	t.Helper()
	g := gomega.NewWithT(t)
	lib, err := of()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return lib, g
}

// reference is a decoder of libopus.
type reference struct {
	lib      *library
	c        uintptr
	channels int
}

// newReference returns a decoder that the caller closes.
func (l *library) newReference(g *gomega.WithT, rate, channels int) reference {
	var status int32
	c := l.NewDecoder(int32(rate), int32(channels), &status)
	g.Expect(status).To(gomega.BeZero())
	return reference{lib: l, c: c, channels: channels}
}

func (r reference) close() { r.lib.CloseDecoder(r.c) }

// decode decodes a packet into pcm, or conceals all of pcm if there is none. It returns the samples of each channel; less than 0 is a refusal.
func (r reference) decode(packet []byte, pcm []int16) int { return r.call(packet, pcm, 0) }

// recover decodes the packet before this one from this packet's redundancy into all of pcm.
func (r reference) recover(packet []byte, pcm []int16) int { return r.call(packet, pcm, 1) }

func (r reference) call(packet []byte, pcm []int16, redundant int32) int {
	var first *byte
	if len(packet) > 0 {
		first = &packet[0]
	}
	return int(r.lib.Decode(r.c, first, int32(len(packet)), &pcm[0], int32(len(pcm)/r.channels), redundant))
}

// frames returns the lengths of a packet's frames, or nothing if libopus refuses the packet.
func (l *library) frames(packet []byte) []int16 {
	var toc byte
	var at [48]uintptr
	var sizes [48]int16
	return sizes[:max(0, l.Parse(&packet[0], int32(len(packet)), &toc, &at[0], &sizes[0], nil))]
}
