// Package backend runs speech engines, in this process or in one of their own.
package backend
