package setup

// Servers that ask for a key: which environment variable has it, and what can be offered without it.

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// keyVariables are the environment variables from which the servers themselves take their key, where they have one.
var keyVariables = []struct{ server, name string }{
	{"vLLM", "VLLM_API_KEY"}, {"llama.cpp", "LLAMA_API_KEY"}, {"LocalAI", "LOCALAI_API_KEY"}, {"LiteLLM", "LITELLM_MASTER_KEY"},
}

// keyVariable returns the environment variable that is to have the key of a server.
func keyVariable(name string, u *url.URL) string {
	for _, v := range keyVariables {
		if strings.HasPrefix(name, v.server) {
			return v.name
		}
	}
	return "ANTIPHON_KEY_" + u.Port()
}

// wantsKey reports whether a server refuses requests without a key. llama.cpp lists its models without one.
func wantsKey(answers map[string]answer) bool {
	return refused(answers[pathModels]) || refused(answers[pathLlamaCPP])
}

func refused(a answer) bool {
	return a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
}

// withoutKey returns the offer of a server that does not say what it has: the address alone. Its stage is the one that servers at this port
// mostly do.
func withoutKey(u *url.URL) Offer {
	o := Offer{Stage: config.LLM, Kind: kindOpenAI, URL: u.Scheme + "://" + u.Host + "/v1"}
	if u.Port() == "8880" { // Kokoro-FastAPI
		o.Stage = config.TTS
	}
	return o
}
