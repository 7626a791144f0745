package stage

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

var tiny = kernels.Config{
	VocabSize: 16, HiddenSize: 8, IntermediateSize: 16, NumHiddenLayers: 1, NumAttentionHeads: 2,
	NumKeyValueHeads: 1, HeadDim: 4, MaxPositionEmbeddings: 32, RMSNormEps: 1e-6, RopeTheta: 10000,
	TieWordEmbeddings: true,
}

// TestFollowPolicy: an engine gets the newest version there is and each that is
// newer, with its weights; announcements that are old, repeated, foreign, unreadable
// or whose checkpoint is gone change nothing.
func TestFollowPolicy(t *testing.T) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	s := Stream{Brokers: broker.ListenAddrs()[0], Topics: Topics{Policy: "run.policy"}, Job: "run.engine"}
	if err := kafkaio.EnsureTopics(t.Context(), s.Brokers, kafkaio.TopicSpec{Name: s.Topics.Policy, Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	weightsOf := map[int64][]kernels.Tensor{}
	announce := func(run string, version int64, saved bool) {
		t.Helper()
		dir := t.TempDir()
		if saved {
			weights, err := cpu.InitWeights(tiny, uint64(version))
			if err == nil {
				_, err = checkpoint.Save(dir, tiny, weights, checkpoint.Options{DType: checkpoint.F32})
			}
			if err != nil {
				t.Fatal(err)
			}
			weightsOf[version] = weights
		} else {
			dir = filepath.Join(dir, "pruned")
		}
		if err := Announce(t.Context(), s, schemas.PolicyVersion{Run: run, Version: version, Checkpoint: dir}); err != nil {
			t.Fatal(err)
		}
	}
	announce("run", 1, true)
	announce("run", 3, true)
	announce("run", 2, true)
	announce("other", 9, true)
	if err := kafkaio.Produce(t.Context(), s.Brokers, kafkaio.Output{Topic: s.Topics.Policy, Key: []byte("run"), Value: []byte("noise")}); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancelCause(t.Context())
	type handedOver struct {
		version int64
		weights []kernels.Tensor
	}
	got, ended := make(chan handedOver), make(chan error, 1)
	go func() {
		ended <- FollowPolicy(ctx, s, "run", func(version int64, weights []kernels.Tensor) error {
			got <- handedOver{version, weights}
			return nil
		})
	}()
	expect := func(version int64) {
		t.Helper()
		select {
		case h := <-got:
			if h.version != version || !cmp.Equal(h.weights, weightsOf[version]) {
				t.Errorf("version %d was handed over, want %d with its weights", h.version, version)
			}
		case err := <-ended:
			t.Fatalf("ended before version %d: %v", version, err)
		}
	}
	expect(3)
	announce("run", 3, true)
	announce("run", 4, false)
	announce("run", 5, true)
	expect(5)
	enough := errors.New("enough")
	stop(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("stopped: %v", err)
	}
}
