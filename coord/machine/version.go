package machine

// Versions of machines: client and server compare the fingerprints of the machines that both have.

import "strconv"

// Version is a machine as the two ends of a call tell each other of it.
type Version struct {
	Name string
	// Fingerprint is the package's Fingerprint in 16 hexadecimal digits.
	Fingerprint string
}

// VersionOf is the version of the machine name whose package has this Fingerprint.
func VersionOf(name string, fingerprint uint64) Version {
	text := strconv.FormatUint(fingerprint, 16)
	return Version{name, "0000000000000000"[len(text):] + text}
}

// Differing compares ours with what the other end has told: told gives its fingerprint of a machine, ok is false where it
// told none. known is how many both ends have; differ names those of them that are not the same.
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
