// Package deploy tests the files of deploy/: reverse proxies of Debian before a real server.
package deploy
