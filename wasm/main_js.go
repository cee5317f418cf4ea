// Command wasm is the program behind the page's script: see sdk/npm. It registers what the script calls, and nothing else.
package main

import "github.com/antiphon-rt/antiphon/wasm/page"

func main() {
	page.Register()
	select {}
}
