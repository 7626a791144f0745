// Package docker makes sandboxes of containers.
//
// What holds of every container, beside what holds of every sandbox:
//   - no network unless the spec asks for one, no capabilities, no new
//     privileges, bounds on memory, CPU, processes, file size and disk;
//   - the agent's container is made of an image that holds neither the withheld
//     paths nor git history beyond the task's commit: they are in no layer that
//     the container can reach (invariant 4);
//   - it carries the labels millrace.run, millrace.owner and millrace.sandbox,
//     and is removed when its sandbox is closed, or by the next provider of the
//     same run or host when its owner died;
//   - what a container or the daemon did wrong is a [sandbox.Failure] of a type
//     that errors.Is tells (invariant 1), never a result.
//
// A container's first process is a POSIX shell that reads commands from its
// standard input; see shell.go. So a tool call costs one fork in the container
// and no call of the Docker API, and any image with a shell will do.
package docker
