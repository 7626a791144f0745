package topics

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"millrace/transforms/kafkaio"
)

// List are topics.
type List []kafkaio.Topic

// OfRun lists the topics of a run, its evaluations' among them; an empty run
// lists every topic of the cluster.
func OfRun(ctx context.Context, brokers, run string) (List, error) {
	return kafkaio.Topics(ctx, brokers, func(name string) bool { return run == "" || strings.HasPrefix(name, run+".") })
}

// WriteTable writes a line a topic.
func (l List) WriteTable(out io.Writer) error {
	w := table(out)
	fmt.Fprintln(w, "TOPIC\tPARTITIONS\tREPLICAS\tRECORDS\tBYTES\tSETTINGS")
	for _, t := range l {
		settings := make([]string, 0, len(t.Settings))
		for _, s := range t.Settings {
			settings = append(settings, s.Name+"="+s.Value)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\n", t.Name, len(t.Partitions), replicas(t), t.Records(), size(t.Bytes()), strings.Join(settings, " "))
	}
	return w.Flush()
}

// replicas is "3", or "2/3" when a partition has only two in sync.
func replicas(t kafkaio.Topic) string {
	if len(t.Partitions) == 0 {
		return "-"
	}
	worst := t.Partitions[0]
	for _, p := range t.Partitions {
		if p.InSync < worst.InSync {
			worst = p
		}
	}
	if worst.InSync < worst.Replicas {
		return fmt.Sprintf("%d/%d", worst.InSync, worst.Replicas)
	}
	return fmt.Sprint(worst.Replicas)
}

// size is a number of bytes, negative where it is not known.
func size(bytes int64) string {
	if bytes < 0 {
		return "unknown"
	}
	return fmt.Sprint(bytes)
}

func table(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }
