//go:build !amd64 || noasm

package vec

// variants lists what this processor can run, the fastest first.
func variants() []*variant { return []*variant{&portable} }
