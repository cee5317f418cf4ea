// Package tts has the synthesizers of a pipeline that run on a server of the user's own. [NewOpenAI] uses /v1/audio/speech, which OpenAI,
// Kokoro-FastAPI, speaches, LocalAI and others have. [NewPiper] uses the HTTP server of Piper.
//
// Audio goes to the session as it arrives. It may be raw PCM, a WAV file, or either of them in server-sent events; the adapter looks at the
// first bytes, because servers do not always send what they were asked for. It is resampled to the rate of the pipeline.
package tts
