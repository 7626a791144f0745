package docker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker/dockertest"
	"millrace/transforms/sandbox/sandboxtest"
)

// many is how many containers a node of this size has to sustain.
const many = 64

// TestManyAtOnce: as many containers as that, with the limits on, each of which
// writes and reads its own files while all others do.
func TestManyAtOnce(t *testing.T) {
	dockertest.Need(t, dockertest.Busybox)
	p := provider(t, Config{Containers: many})
	opened := make(chan struct{}, many)
	all := make(chan struct{})
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() {
			s, err := p.Open(t.Context(), fmt.Sprint(i), sandbox.Spec{Image: dockertest.Busybox})
			opened <- struct{}{}
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			<-all // nobody begins before all are open
			for n := range 5 {
				want := fmt.Sprintf("%d of %d\n", n, i)
				if err := s.WriteFile("mine", []byte(want)); err != nil {
					t.Error(err)
				}
				r, err := s.Exec(t.Context(), "cat mine", time.Minute)
				if err != nil || r.Output != want || r.ExitCode != 0 {
					t.Errorf("container %d: %+v, %v", i, r, err)
				}
			}
		})
	}
	for range many {
		<-opened
	}
	if n := containers(t, p, labelOwner, p.owner.String()); n < many {
		t.Errorf("%d containers at once, want %d", n, many)
	}
	close(all)
	group.Wait()
	if n := containers(t, p, labelOwner, p.owner.String()); n != 0 {
		t.Errorf("%d containers are left", n)
	}
}

// BenchmarkExec: a command in a container against a bare exec of the daemon's API,
// one after the other in the same container. overhead-ms is the difference of the
// medians; the goal is 5 at most.
func BenchmarkExec(b *testing.B) {
	dockertest.Need(b, dockertest.Python)
	s := sandboxtest.Open(b, provider(b, Config{}), sandbox.Spec{Image: dockertest.Python}).(*box)
	var ours, bare []time.Duration
	for b.Loop() {
		started := time.Now()
		if r := sandboxtest.Run(b, s, "echo hi"); r.Output != "hi\n" {
			b.Fatalf("%+v", r)
		}
		ours = append(ours, time.Since(started))
		started = time.Now()
		bareExec(b, s)
		bare = append(bare, time.Since(started))
	}
	b.ReportMetric(ms(quantile(ours, 0.5)), "p50-ms")
	b.ReportMetric(ms(quantile(ours, 0.99)), "p99-ms")
	b.ReportMetric(ms(quantile(bare, 0.5)), "bare-p50-ms")
	b.ReportMetric(ms(quantile(bare, 0.99)), "bare-p99-ms")
	b.ReportMetric(ms(quantile(ours, 0.5)-quantile(bare, 0.5)), "overhead-ms")
}

// attacher are the calls of "docker exec" that the sandbox does without.
type attacher interface {
	ContainerExecAttach(ctx context.Context, exec string, config container.ExecAttachOptions) (types.HijackedResponse, error)
	ContainerExecInspect(ctx context.Context, exec string) (container.ExecInspect, error)
}

// bareExec is what "docker exec" does.
func bareExec(b *testing.B, s *box) {
	ctx, api := context.Background(), s.provider.api.(interface {
		engine
		attacher
	})
	exec, err := api.ContainerExecCreate(ctx, s.id, container.ExecOptions{Cmd: []string{"/bin/sh", "-c", "echo hi"}, AttachStdout: true, AttachStderr: true})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := api.ContainerExecAttach(ctx, exec.ID, container.ExecAttachOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	var out limited
	out.room = 1 << 10
	if _, err := stdcopy.StdCopy(&out, &out, conn.Reader); err != nil || string(out.data) != "hi\n" {
		b.Fatalf("%q, %v", out.data, err)
	}
	if _, err := api.ContainerExecInspect(ctx, exec.ID); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpen: from the demand for a sandbox to its first answer, of an image that
// is here and prepared; cold, and with a container that waits.
func BenchmarkOpen(b *testing.B) {
	dockertest.Need(b, dockertest.Python)
	spec := sandbox.Spec{Image: dockertest.Python, Setup: "echo prepared > a.py", Scrub: true}
	for _, warm := range []int{0, 1} {
		name := []string{"cold", "warm"}[warm]
		b.Run(name, func(b *testing.B) {
			p := provider(b, Config{Warm: 2*warm - 1})
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				if warm == 1 {
					p.Prepare(spec, 1)
					for ready := false; !ready; time.Sleep(time.Millisecond) {
						p.pool.mu.Lock()
						ready = p.pool.count == 1
						p.pool.mu.Unlock()
					}
				}
				b.StartTimer()
				started := time.Now()
				s, err := p.Open(b.Context(), b.Name(), spec)
				if err != nil {
					b.Fatal(err)
				}
				if r := sandboxtest.Run(b, s, "cat a.py"); r.Output != "prepared\n" {
					b.Fatalf("%+v", r)
				}
				took = append(took, time.Since(started))
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(ms(quantile(took, 0.5)), "p50-ms")
			b.ReportMetric(ms(quantile(took, 0.99)), "p99-ms")
		})
	}
}

// BenchmarkCalls: commands a second of many containers together.
func BenchmarkCalls(b *testing.B) {
	dockertest.Need(b, dockertest.Busybox)
	p := provider(b, Config{Containers: many})
	boxes := make(chan sandbox.Sandbox, many)
	for range many {
		boxes <- sandboxtest.Open(b, p, sandbox.Spec{Image: dockertest.Busybox})
	}
	started := time.Now()
	b.SetParallelism(many)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s := <-boxes
			if r, err := s.Exec(context.Background(), "echo hi", time.Minute); err != nil || r.Output != "hi\n" {
				b.Errorf("%+v, %v", r, err)
			}
			boxes <- s
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(started).Seconds(), "calls/s")
	b.ReportMetric(many, "containers")
}

func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
