// Package version has the version of this module. The server, the command line and the npm package take it from here.
package version

// Version is the version of the release that is made from this code, or that was made last, without the v of its tag.
const Version = "0.1.0"
