// Command chaos runs a fault campaign; "make chaos" does.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"millrace/runners/chaos"
)

type command struct {
	Seed     uint64 `help:"Seed of schedule, tasks and weights." default:"7"`
	Kills    int    `help:"Number of kills; other faults come beside them." default:"20"`
	Only     string `help:"Kill only this role, each time when it has recovered, and disturb nothing else." placeholder:"ROLE"`
	Dir      string `help:"Directory to keep the campaign in; default: a temporary one, which is kept if something was found." type:"path"`
	Kafka    string `help:"Kafka to use in place of the embedded broker, which is then left alone." placeholder:"HOST:PORT"`
	Schedule bool   `help:"Print the schedule and stop."`
}

func (c command) Run() error {
	if c.Schedule {
		fmt.Print(chaos.Describe(c.Seed, c.Kills, c.Only))
		return nil
	}
	dir := c.Dir
	if dir == "" {
		temp, err := os.MkdirTemp("", "millrace-chaos-")
		if err != nil {
			return err
		}
		dir = temp
	}
	result, err := chaos.Run(context.Background(), chaos.Config{Dir: dir, Seed: c.Seed, Kills: c.Kills, Only: c.Only, Brokers: c.Kafka, Out: os.Stdout})
	fmt.Print(result.Report())
	if err == nil && result.Sound() {
		if c.Dir == "" {
			err = os.RemoveAll(dir)
		}
		fmt.Println(result)
		return err
	}
	fmt.Printf("everything is in %s; the same faults again: make chaos SEED=%d KILLS=%d\n", filepath.Clean(dir), c.Seed, c.Kills)
	fmt.Println(result)
	if err == nil {
		err = fmt.Errorf("the campaign found %d problems", len(result.Problems))
	}
	return err
}

func main() {
	chaos.Role() // the processes of a campaign are this binary
	var c command
	parsed := kong.Parse(&c, kong.Name("chaos"), kong.Description("Kills and disturbs the processes of a run, and counts what became of it."))
	if err := parsed.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}
