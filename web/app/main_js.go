// Command app is the client program of the Talk page. It is built for the
// browser only: see web/internal/build.
package main

import (
	"log"

	"github.com/antiphon-rt/antiphon/web"
)

func main() {
	client, err := web.NewBrowserClient()
	if err != nil {
		log.Fatal(err)
	}
	web.Run(client)
}
