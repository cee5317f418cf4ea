//go:build !stress

package heap

const stress = false
