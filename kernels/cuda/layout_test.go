package cuda

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestLayout: every struct of the interface has the C side's fields, at the C side's
// offsets. C names are snake_case, and lower case is all that is compared.
func TestLayout(t *testing.T) {
	d := open(t)
	theirs := map[string]string{}
	for line := range strings.Lines(d.abi.layout()) {
		name, numbers, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs[strings.ReplaceAll(strings.TrimPrefix(name, "mr_"), "_", "")] = numbers
	}
	ours := map[string]string{}
	for _, s := range []any{
		report{}, deviceInfo{}, devicesCall{}, openCall{}, closeCall{}, memoryCall{}, shape{}, createCall{}, destroyCall{},
		tensorCall{}, restartCall{}, lossSettings{}, target{}, outcome{}, packCall{}, stepCall{}, publishCall{},
		engineCreateCall{}, engineDestroyCall{}, sampling{}, sampled{}, tickCall{},
	} {
		typ := reflect.TypeOf(s)
		name := strings.ToLower(typ.Name())
		if typ == reflect.TypeOf(lossSettings{}) {
			name = "loss"
		}
		ours[name] = fmt.Sprint(typ.Size())
		for i := range typ.NumField() {
			f := typ.Field(i)
			field := strings.ToLower(f.Name)
			if field == "_" {
				field = "reserved"
			}
			ours[name+"."+field] = fmt.Sprint(f.Offset, " ", f.Type.Size())
		}
	}
	for name, want := range theirs {
		if ours[name] != want {
			t.Errorf("%s is %q here, %q in the library", name, ours[name], want)
		}
		delete(ours, name)
	}
	for name := range ours {
		t.Errorf("%s is not in the library", name)
	}
}
