package machine

// Versions of machines: client and server compare the fingerprints of the machines that both have.

import "strconv"

// Version is what client and server tell each other of a machine.
type Version struct {
	Name string
	// Fingerprint is the package's Fingerprint in 16 hexadecimal digits.
	Fingerprint string
}

// VersionOf returns the version of the machine name. fingerprint is the constant Fingerprint of its package.
func VersionOf(name string, fingerprint uint64) Version {
	text := strconv.FormatUint(fingerprint, 16)
	return Version{name, "0000000000000000"[len(text):] + text}
}

// Differing compares our machines with those of the other end. told returns the other end's fingerprint of a machine; ok is false
// if it has sent none. known is how many machines both ends have. differ has the names of those with different fingerprints.
func Differing(ours []Version, told func(name string) (fingerprint string, ok bool)) (known int, differ []string) {
	for _, m := range ours {
		theirs, ok := told(m.Name)
		if !ok {
			continue
		}
		known++
		if theirs != m.Fingerprint {
			differ = append(differ, m.Name)
		}
	}
	return known, differ
}
