// Package lights is a puzzle of many steps: a panel of lamps, some of which are on.
// Pressing a lamp switches it and, if the panel is crossed, those beside, above and
// below it; when all are off the puzzle is solved. Uncrossed, who reads the panel
// knows each press; crossed, a state's solution is a sum modulo 2 of all lamps, which
// small networks are slow to find.
//
// Nothing ends an episode but its solution: who wanders, or says more than a lamp's
// name, runs into the limit of steps or of the context, which is what compact filtering
// masks.
//
// What always holds:
//
//   - Every panel of a task set can be switched off, and its parameters say in how few
//     presses.
//   - No panel that is tested with is one to train on.
package lights
