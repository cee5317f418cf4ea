// Command script-include serves the pages of a folder, as any web server does. The pages call a voice server of another origin.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8000", "where to listen")
	folder := flag.String("folder", "examples/script-include", "what to serve")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.FileServer(http.Dir(*folder))))
}
