//go:build !race

package validate

const racing = false
