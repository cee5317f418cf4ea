// Package bundlers builds a page that uses the npm package with each bundler that people use, and places a call from it. Nothing is configured for the package, and nothing
// is copied by hand.
package bundlers
