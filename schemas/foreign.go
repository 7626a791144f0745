package schemas

import "github.com/apache/arrow/go/v15/arrow"

// sameFields compares names and types. Parquet keeps neither the metadata of a
// schema nor the names of list elements, and reads every list as nullable.
func sameFields(a, b []arrow.Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !sameType(a[i].Type, b[i].Type) {
			return false
		}
	}
	return true
}

func sameType(a, b arrow.DataType) bool {
	switch a := a.(type) {
	case *arrow.ListType:
		b, ok := b.(*arrow.ListType)
		return ok && sameType(a.Elem(), b.Elem())
	case *arrow.StructType:
		b, ok := b.(*arrow.StructType)
		return ok && sameFields(a.Fields(), b.Fields())
	}
	return arrow.TypeEqual(a, b)
}

// hasNulls tells whether any element on any level is null.
func hasNulls(d arrow.ArrayData) bool {
	if d.NullN() != 0 {
		return true
	}
	for _, child := range d.Children() {
		if hasNulls(child) {
			return true
		}
	}
	return false
}
