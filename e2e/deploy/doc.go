// Package deploy tests the files of deploy/: reverse proxies of Debian before a real server, the image, and the systemd unit. It also tests two servers on
// one NATS server.
package deploy
