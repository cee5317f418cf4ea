package room

import (
	"testing"

	"github.com/onsi/gomega"
)

// TestPublicErrorsNameNoServer checks that clients do not learn where the servers behind this one are.
func TestPublicErrorsNameNoServer(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, public := range map[string]string{
		`Post "http://10.0.0.5:11434/v1/chat": dial tcp 10.0.0.5:11434: connect: connection refused`: `Post "its server: ": its server: connect: connection refused`,
		"dial tcp: lookup llm.internal on 10.0.0.2:53: no such host":                                 "its server: its server: no such host",
		"read tcp 10.0.0.1:5000->10.0.0.5:80: i/o timeout":                                           "its server: i/o timeout",
		"no answer from asr-1.internal:8000 in 3s":                                                   "no answer from its server:  in 3s",
		"dial unix /run/asr.sock: connect: no such file":                                             "its server: connect: no such file",
		"the recogniser did not answer in time: 10 s":                                                "the recogniser did not answer in time: 10 s",
	} {
		g.Expect(Public(text)).To(gomega.Equal(public))
	}
}
