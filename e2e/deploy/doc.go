// Package deploy tests the files of deploy/: reverse proxies of Debian before a real server, the image, and the systemd unit.
package deploy
