//go:build noasm || !amd64

package cpu

func fewRowsServe(int) bool { return false }

var fewRowsProducts blockProducts
