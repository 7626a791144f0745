package taskset

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// arrowValue is value i of an array as a row has it, and the size of its texts in
// bytes. Text of pandas' categories is text.
func arrowValue(a arrow.Array, i int) (v any, bytes int, err error) {
	if a.IsNull(i) {
		return nil, 0, nil
	}
	switch a := a.(type) {
	case *array.Null:
		return nil, 0, nil
	case *array.String:
		return a.Value(i), len(a.Value(i)), nil
	case *array.LargeString:
		return a.Value(i), len(a.Value(i)), nil
	case *array.Binary:
		return a.ValueString(i), len(a.Value(i)), nil
	case *array.LargeBinary:
		return a.ValueString(i), len(a.Value(i)), nil
	case *array.Boolean:
		return a.Value(i), 0, nil
	case *array.Int64:
		return a.Value(i), 0, nil
	case *array.Int32:
		return int64(a.Value(i)), 0, nil
	case *array.Float64:
		return a.Value(i), 0, nil
	case *array.Timestamp:
		return a.ValueStr(i), 0, nil
	case *array.Dictionary:
		return arrowValue(a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		return arrowList(a, i)
	case *array.Struct:
		return arrowStruct(a, i)
	}
	return nil, 0, fmt.Errorf("columns of type %s are not known", a.DataType())
}

func arrowList(a array.ListLike, i int) (any, int, error) {
	from, to := a.ValueOffsets(i)
	list, size := make([]any, 0, to-from), 0
	for j := from; j < to; j++ {
		v, bytes, err := arrowValue(a.ListValues(), int(j))
		if err != nil {
			return nil, 0, fmt.Errorf("[%d]: %w", j-from, err)
		}
		list, size = append(list, v), size+bytes
	}
	return list, size, nil
}

func arrowStruct(a *array.Struct, i int) (any, int, error) {
	object, size := make(map[string]any, a.NumField()), 0
	for f, field := range a.DataType().(*arrow.StructType).Fields() {
		v, bytes, err := arrowValue(a.Field(f), i)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", field.Name, err)
		}
		object[field.Name], size = v, size+bytes
	}
	return object, size, nil
}
