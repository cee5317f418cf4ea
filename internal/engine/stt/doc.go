// Package stt recognises speech with servers that take a recording over HTTP: `/v1/audio/transcriptions` as OpenAI, speaches, vLLM,
// LocalAI and llama.cpp have it, and `/inference` of whisper.cpp's server.
//
// Such a server takes the whole recording. A [Transcriber] collects the utterance and sends it when the input is closed. Where the
// caller wants partial results, the Transcriber also sends what it has of the utterance while the user speaks: one request at a time, and
// so seldom that the server works for it at most half of the time. It cancels such a request when the input is closed, because the
// final request needs the server.
//
// Whisper models write words for silence and noise, such as "Thank you." A Transcriber drops a segment only where the server itself
// doubts it (no_speech_prob), and text in brackets such as [BLANK_AUDIO]. It has no list of phrases, because users say these phrases.
package stt
