// Command wasm is the program behind the page's script: see sdk/npm. It registers the function with which the script begins calls.
package main

import "github.com/antiphon-rt/antiphon/wasm/internal/page"

func main() {
	page.Register()
	select {}
}
