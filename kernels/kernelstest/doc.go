// Package kernelstest is the contract of kernels.Trainer as tests: each backend, in
// each precision, runs [Contract]. The numbers come from Hugging Face transformers
// and torch (testdata/reference.py of package cpu), never from a backend.
package kernelstest
