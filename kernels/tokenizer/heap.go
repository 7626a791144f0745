package tokenizer

// heap is a binary heap of values; less says which comes out first.
type heap[T any] struct {
	items []T
	less  func(a, b *T) bool
}

func (h *heap[T]) push(item T) {
	h.items = append(h.items, item)
	for i := len(h.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.less(&h.items[i], &h.items[parent]) {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

// pop removes the first item; ok is false when the heap is empty.
func (h *heap[T]) pop() (item T, ok bool) {
	n := len(h.items) - 1
	if n < 0 {
		return item, false
	}
	item = h.items[0]
	h.items[0] = h.items[n]
	h.items = h.items[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			return item, true
		}
		if child+1 < n && h.less(&h.items[child+1], &h.items[child]) {
			child++
		}
		if !h.less(&h.items[child], &h.items[i]) {
			return item, true
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}
