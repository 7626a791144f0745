package topics

import (
	"strings"
	"testing"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// untold is a topic of which the cluster tells one partition's size.
var untold = kafkaio.Topic{Name: "r.tasks", Partitions: []kafkaio.PartitionState{
	{ID: 0, Replicas: 1, InSync: 1, Bytes: 7}, {ID: 1, Last: 2, Replicas: 1, InSync: 1, Bytes: -1},
}}

// rewarded is a topic of two partitions, of which one lost a replica and its
// first ten records.
var rewarded = kafkaio.Topic{
	Name: "r.rewarded",
	Partitions: []kafkaio.PartitionState{
		{ID: 0, First: 10, Last: 30, Replicas: 3, InSync: 2, Bytes: 4096},
		{ID: 1, First: 0, Last: 7, Replicas: 3, InSync: 3, Bytes: 512},
	},
	Settings: []kafkaio.Setting{
		{Name: "max.message.bytes", Value: "67108864", Own: true},
		{Name: "min.insync.replicas", Value: "2"},
	},
}

func TestTables(t *testing.T) {
	lags := Lags{Run: "r", Stages: append(
		stageLags("score", kafkaio.Topic{Name: "r.trajectories", Partitions: []kafkaio.PartitionState{{First: 2, Last: 5}}}, nil),
		stageLags("advantage", rewarded, []schemas.Position{
			{Topic: "r.rewarded", Partition: 0, Offset: 25}, // 30 - 25 = 5
			{Topic: "r.rewarded", Partition: 1, Offset: 9},  // of another log: never negative
			{Topic: "other", Partition: 1, Offset: 1},
		})...), Total: 8}
	for _, c := range []struct {
		name  string
		write func(*strings.Builder) error
		want  []string
	}{
		{"list", func(b *strings.Builder) error { return List{rewarded, untold}.WriteTable(b) }, []string{
			"TOPIC       PARTITIONS  REPLICAS  RECORDS  BYTES    SETTINGS",
			"r.rewarded  2           2/3       27       4608     max.message.bytes=67108864 min.insync.replicas=2",
			"r.tasks     2           1         2        unknown  ",
		}},
		{"describe", func(b *strings.Builder) error {
			return Description{rewarded, []Position{{"r.advantage", 0, 25, 5}}}.WriteTable(b)
		}, []string{
			"r.rewarded: 27 records, bytes on disk: 4608",
			"",
			"PARTITION  FIRST  END  RECORDS  REPLICAS  IN SYNC  BYTES",
			"0          10     30   20       3         2        4096",
			"1          0      7    7        3         3        512",
			"",
			"SETTING              VALUE     FROM",
			"max.message.bytes    67108864  topic",
			"min.insync.replicas  2         broker",
			"",
			"GROUP        PARTITION  COMMITTED  LAG",
			"r.advantage  0          25         5",
		}},
		{"lag", func(b *strings.Builder) error { return lags.WriteTable(b) }, []string{
			"STAGE      TOPIC           PARTITION  COMMITTED  END  LAG",
			"score      r.trajectories  0          -          5    3",
			"advantage  r.rewarded      0          25         30   5",
			"advantage  r.rewarded      1          9          7    0",
			"total                                                 8",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			if err := c.write(&got); err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(c.want, "\n") + "\n"; got.String() != want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}
