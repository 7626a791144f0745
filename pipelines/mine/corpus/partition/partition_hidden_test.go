package partition

import (
	"slices"
	"testing"
)

type partitionCase struct {
	xs   []int
	x    int
	want []int
}

func checkPartition(t *testing.T, cases []partitionCase) {
	t.Helper()
	for _, c := range cases {
		if got := Partition(c.xs, c.x); !slices.Equal(got, c.want) {
			t.Fatalf("Partition(%v, %d) = %v, want %v", c.xs, c.x, got, c.want)
		}
	}
}

func TestPartitionEmpty(t *testing.T) {
	checkPartition(t, []partitionCase{
		{nil, 0, nil},
	})
}

func TestPartitionAbove(t *testing.T) {
	checkPartition(t, []partitionCase{
		{[]int{7, 6}, 5, []int{7, 6}},
	})
}

func TestPartitionBelow(t *testing.T) {
	checkPartition(t, []partitionCase{
		{[]int{2, 1}, 5, []int{2, 1}},
	})
}

func TestPartitionEqual(t *testing.T) {
	checkPartition(t, []partitionCase{
		{[]int{5, 4, 5}, 5, []int{4, 5, 5}},
	})
}

func TestPartitionMixed(t *testing.T) {
	checkPartition(t, []partitionCase{
		{[]int{6, 1, 7, 2, 8}, 5, []int{1, 2, 7, 6, 8}},
	})
}
