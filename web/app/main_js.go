// Command app is the client program of the Talk page. It is built for the
// browser only: see web/internal/build.
package main

import "github.com/antiphon-rt/antiphon/web"

func main() {
	client, err := web.NewBrowserClient()
	if err != nil {
		panic(err) // package log takes 10 kB of the program, compressed
	}
	web.Run(client)
}
