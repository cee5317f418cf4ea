// Package dist describes the files in web/dist, which the build of the Talk page
// writes and the server reads.
package dist

// Manifest describes the client program in the folder. It is the content of
// ManifestFile, which is written last: where it exists, the other files exist too.
type Manifest struct {
	SHA256 string `json:"sha256"` // the hash of the program as the browser runs it
	Size   int    `json:"size"`   // its length in bytes
	Go     string `json:"go"`     // version of the Go toolchain that made it
	Level  int    `json:"level"`  // the level of brotli, up to 11
}

// Names of the files.
const (
	ManifestFile   = "manifest.json"
	WasmBrotliFile = "app.wasm.br"
	WasmGzipFile   = "app.wasm.gz"
	WasmExecFile   = "wasm_exec.js"
)
