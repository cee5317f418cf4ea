package setup

// Identifying: what a server is, by what it answers, and what it offers.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// Kinds of the table in package config that setup writes.
const (
	kindOpenAI     = "openai"
	kindWhisperCPP = "whisper.cpp"
	kindPiper      = "piper"
	kindWyoming    = "wyoming"
)

// maxModels is how many models of a server are offered for one stage. maxName is how long the names of a model and its voice may be together, in bytes.
const maxModels, maxName = 5, 256

// ranks have the order in which servers are offered for each stage, best first: those made for the stage come first.
var ranks = map[string][]string{
	config.LLM: {"Ollama", "vLLM", "llama.cpp", "LM Studio", "LocalAI", "LiteLLM"},
	config.STT: {"speaches", "whisper.cpp", "Wyoming", "vLLM", "LocalAI", "LiteLLM"},
	config.TTS: {"Kokoro-FastAPI", "speaches", "Piper", "Wyoming", "LocalAI", "LiteLLM"},
}

// rank returns the place of a server in ranks; one that is not there comes last.
func rank(stage, name string) int {
	for i, known := range ranks[stage] {
		if strings.HasPrefix(name, known) {
			return i
		}
	}
	return len(ranks[stage])
}

// model is an entry of /v1/models. Servers add fields of their own.
type model struct {
	ID      string `json:"id"`
	OwnedBy string `json:"owned_by"`
	Task    string `json:"task"`  // speaches
	Type    string `json:"type"`  // LM Studio
	State   string `json:"state"` // LM Studio
	Voices  names  `json:"voices"`
}

// names is a list of texts, or of objects with a name.
type names []string

// UnmarshalJSON implements json.Unmarshaler. It skips what has no name.
func (n *names) UnmarshalJSON(text []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return nil // no list: no names
	}
	for _, one := range all {
		var name string
		if json.Unmarshal(one, &name) != nil {
			var object struct{ Name, ID string }
			_ = json.Unmarshal(one, &object) // no object: no name
			name = cmp.Or(object.ID, object.Name)
		}
		if name != "" {
			*n = append(*n, name)
		}
	}
	return nil
}

// identify returns the server that gave these answers; nil if there is none, or if it is a server of ours. variable is the environment
// variable with its key; empty if it asks for none. key is the key that it got; empty if the variable is not set.
func identify(u *url.URL, answers map[string]answer, variable, key string) *Server {
	if len(answers) == 0 {
		return nil
	}
	for _, a := range answers {
		if a.header.Get("Antiphon-Version") != "" {
			return nil
		}
	}
	base := u.Scheme + "://" + u.Host
	s := &Server{Name: nameOf(answers)}
	var list struct{ Data []model }
	if !decode(answers[pathLMStudio], &list) {
		decode(answers[pathModels], &list)
	}
	list.Data = orderModels(list.Data, answers[pathOllamaLoaded])
	var voices struct{ Voices names }
	decode(answers[pathVoices], &voices)
	switch s.Name {
	case "whisper.cpp":
		s.Offers = append(s.Offers, Offer{Stage: config.STT, Kind: kindWhisperCPP, URL: base})
	case "Piper":
		s.Offers = append(s.Offers, Offer{Stage: config.TTS, Kind: kindPiper, URL: base})
	default:
		if strings.HasPrefix(s.Name, "Kokoro") { // it lists its model under names of OpenAI's as well
			list.Data = []model{{ID: "kokoro"}}
		}
		s.Offers = offers(base+"/v1", list.Data, voices.Voices)
	}
	switch {
	case variable != "" && key == "":
		s.Note = "it asks for a key: run export " + variable + "=… and then antiphon setup again"
		if len(s.Offers) == 0 {
			s.Offers = []Offer{withoutKey(u)}
		}
	case wantsKey(answers):
		s.Note, s.Offers = "it refuses the key in "+variable, nil
	case len(s.Offers) > 0:
	case s.Name != "":
		s.Note = "it has no model yet"
	default:
		s.Note = "it is no server of models that setup knows"
	}
	for i := range s.Offers {
		s.Offers[i].Server = cmp.Or(s.Name, "a server like OpenAI's")
		s.Offers[i].rank += 10 * rank(s.Offers[i].Stage, s.Name)
		s.Offers[i].KeyEnv = variable
		if variable != "" && key == "" {
			s.Offers[i].rank += rankNoKey
			s.Offers[i].Note = "it asks for a key, in the environment variable " + variable
		}
	}
	return s
}

// nameOf returns what a server is; "" if its answers do not say it.
func nameOf(answers map[string]answer) string {
	var version struct{ Version string }
	var props map[string]json.RawMessage
	var studio struct{ Data []model }
	var piper map[string]struct {
		Audio json.RawMessage `json:"audio"`
	}
	root := bytes.ToLower(answers[pathRoot].body)
	says := func(text string) bool { return bytes.Contains(root, []byte(text)) }
	models := string(answers[pathModels].body)
	var alive string
	switch {
	case decode(answers[pathLiteLLM], &alive) && strings.Contains(alive, "alive"), refused(answers[pathModels]) && strings.Contains(models, `"auth_error"`):
		return "LiteLLM"
	case decode(answers[pathOllama], &version) && version.Version != "":
		return "Ollama " + printable(version.Version)
	case decode(answers[pathLMStudio], &studio) && len(studio.Data) > 0 && studio.Data[0].Type != "":
		return "LM Studio"
	case decode(answers[pathLlamaCPP], &props) && props["default_generation_settings"] != nil, strings.Contains(models, `"llamacpp"`):
		return "llama.cpp"
	case strings.Contains(models, `"task"`) && strings.Contains(models, "automatic-speech-recognition"), strings.Contains(models, `"task"`) && strings.Contains(models, "text-to-speech"):
		return "speaches"
	case strings.Contains(models, `"vllm"`):
		if decode(answers[pathVersion], &version); version.Version != "" {
			return "vLLM " + printable(version.Version)
		}
		return "vLLM"
	case refused(answers[pathModels]) && decode(answers[pathVersion], &version) && version.Version != "":
		return "vLLM " + printable(version.Version) // its key is for /v1 alone
	case says("whisper.cpp"):
		return "whisper.cpp"
	case says("localai"):
		return "LocalAI"
	case answers[pathVoices].status == http.StatusOK && (says("kokoro") || strings.Contains(strings.ToLower(models), "kokoro")):
		return "Kokoro-FastAPI"
	case answers[pathModels].status != http.StatusOK && decode(answers[pathPiper], &piper) && len(piper) > 0:
		for _, v := range piper {
			if v.Audio != nil {
				return "Piper"
			}
		}
	}
	return ""
}

// offers returns what a server like OpenAI's offers, with its models in their order. voices are those of /v1/audio/voices.
func offers(base string, models []model, voices []string) []Offer {
	count := map[string]int{}
	var all []Offer
	for _, m := range models {
		stage := stageOf(m)
		if stage == "" || m.ID == "" || count[stage] == maxModels {
			continue
		}
		o := Offer{Stage: stage, Kind: kindOpenAI, URL: base, Model: m.ID, rank: count[stage]}
		if stage == config.TTS {
			o.Voice = voiceOf(append(slices.Clone(m.Voices), voices...))
		}
		if names := o.Model + o.Voice; len(names) > maxName || strings.ContainsFunc(names, func(r rune) bool { return !unicode.IsPrint(r) }) {
			continue // it would fill or control the terminals of those who read the file
		}
		count[stage]++
		all = append(all, o)
	}
	return all
}

// words of names of models, by what the models do. They are looked for in this order.
var words = []struct {
	stage string // "" for models that no stage can use
	words []string
}{
	{"", []string{"embed", "rerank", "bge-", "all-minilm", "clip", "stablediffusion", "flux", "silero"}},
	{config.STT, []string{"whisper", "parakeet", "moonshine", "canary", "voxtral", "transcribe", "asr", "stt", "wav2vec"}},
	{config.TTS, []string{"kokoro", "piper", "tts", "bark", "orpheus", "chatterbox", "vits", "xtts", "speecht5", "voice-"}},
}

// stageOf returns the stage that a model can do; "" for none.
func stageOf(m model) string {
	switch cmp.Or(m.Task, m.Type) {
	case "automatic-speech-recognition":
		return config.STT
	case "text-to-speech":
		return config.TTS
	case "embeddings", "speaker-embedding", "voice-activity-detection":
		return ""
	case "llm", "vlm":
		return config.LLM
	}
	id := strings.ToLower(m.ID)
	for _, group := range words {
		if slices.ContainsFunc(group.words, func(w string) bool { return strings.Contains(id, w) }) {
			return group.stage
		}
	}
	return config.LLM
}

// orderModels returns the models with those first that are loaded already: the first answer comes soon from them.
func orderModels(models []model, loaded answer) []model {
	var running struct{ Models []struct{ Name string } }
	decode(loaded, &running)
	isLoaded := func(m model) bool {
		return m.State == "loaded" || slices.ContainsFunc(running.Models, func(r struct{ Name string }) bool { return r.Name == m.ID })
	}
	models = slices.Clone(models)
	slices.SortStableFunc(models, func(a, b model) int {
		switch {
		case isLoaded(a) && !isLoaded(b):
			return -1
		case isLoaded(b) && !isLoaded(a):
			return 1
		}
		return 0
	})
	return models
}

// voiceOf returns the synthesis voice to take of these; "" for none.
func voiceOf(voices []string) string {
	for _, good := range []string{"af_heart", "af_bella", "alloy"} {
		if slices.Contains(voices, good) {
			return good
		}
	}
	if len(voices) > 0 {
		return voices[0]
	}
	return ""
}

// decode reads the JSON of a good answer into v.
func decode(a answer, v any) bool {
	return a.status == http.StatusOK && json.Unmarshal(a.body, v) == nil
}

// printable returns a short text of a server without what would control a terminal.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40])
	}
	return text
}
