//go:build !amd64 || noasm

package fmapeak

func lanes() int { return 0 }

func chains512(int) {}
func chains256(int) {}
