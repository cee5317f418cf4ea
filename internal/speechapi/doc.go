// Package speechapi serves recordings and texts over the stages of a pipeline, at the paths that clients of OpenAI know:
// POST /v1/audio/transcriptions, POST /v1/audio/speech and GET /v1/models. Under /v1/antiphon/voices it enrols people for the voice gate.
//
// A [Handler] has one method for each. It knows neither keys nor origins: package signal checks both and calls the methods. Each call
// into a stage has a deadline, and the requests that are served at a time have a limit, with a share for each principal.
package speechapi
