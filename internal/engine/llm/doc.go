// Package llm has the language models of a pipeline that run on a server of the user's own: Ollama, vLLM, llama.cpp, LocalAI, LM Studio,
// OpenAI, and others that speak one of two HTTP forms. [NewChat] uses /v1/chat/completions, which all of them have; [NewResponses] uses
// /v1/responses.
//
// Thoughts of a reasoning model never become text of the answer. Tool calls are merged from their pieces. A context that ends closes the
// HTTP request. A request is tried again, and goes to the next server, only before the first byte of an answer.
//
// The package does not use the client of OpenAI (docs/decisions/045-model-servers-without-an-sdk.md).
package llm
