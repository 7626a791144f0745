package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// setThreads sets the number of threads for the rest of the test.
func setThreads(t *testing.T, n int) {
	before := Threads()
	SetThreads(n)
	t.Cleanup(func() { SetThreads(before) })
}

// checkRun runs n iterations and fails unless each ran once, on a worker of its
// own.
func checkRun(t *testing.T, n, threads int) {
	counts := make([]atomic.Int32, n)
	busy := make([]atomic.Bool, threads)
	Run(n, func(worker, i int) {
		if busy[worker].Swap(true) {
			t.Errorf("worker %d is used twice at once", worker)
		}
		counts[i].Add(1)
		runtime.Gosched()
		busy[worker].Store(false)
	})
	for i := range counts {
		if got := counts[i].Load(); got != 1 {
			t.Errorf("iteration %d of %d ran %d times", i, n, got)
		}
	}
}

func TestRunCallsEachOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		setThreads(t, threads)
		for _, n := range []int{0, 1, 2, 3, 7, 100, 1000} {
			checkRun(t, n, threads)
		}
	}
}

// TestConcurrentRuns has more loops at once than workers, each with loops
// inside.
func TestConcurrentRuns(t *testing.T) {
	setThreads(t, 3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				var sum atomic.Int64
				Run(10, func(_, i int) {
					Run(5, func(_, j int) { sum.Add(int64(10*i + j)) })
				})
				// 5*10*(0+...+9) + 10*(0+...+4)
				if got := sum.Load(); got != 5*10*45+10*10 {
					t.Errorf("sum = %d", got)
				}
			}
		})
	}
	wg.Wait()
}

// TestAWorkerJoins waits inside an iteration for another one to start: with the
// caller alone this would never end.
func TestAWorkerJoins(t *testing.T) {
	setThreads(t, 2)
	for range 100 {
		var meet sync.WaitGroup
		meet.Add(2)
		Run(2, func(worker, i int) {
			meet.Done()
			meet.Wait()
		})
	}
}

// TestSetThreadsWhileRunning changes the number of threads under running loops.
func TestSetThreadsWhileRunning(t *testing.T) {
	setThreads(t, 4)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 200 {
				checkRun(t, 20, 8)
			}
		})
	}
	for i := range 200 {
		SetThreads(1 + i%8)
	}
	wg.Wait()
}

// TestOneThreadEndsTheWorkers waits until no worker is left.
func TestOneThreadEndsTheWorkers(t *testing.T) {
	setThreads(t, 6)
	checkRun(t, 100, 6)
	SetThreads(1)
	for alive := true; alive; runtime.Gosched() {
		pool.mu.Lock()
		alive = false
		for _, a := range pool.alive {
			alive = alive || a
		}
		pool.mu.Unlock()
	}
}
