// Package tools are the four tools of the agent, with DeepSWE's names and XML
// call format: file_editor, execute_bash, search and finish (submit is another
// name for it).
//
// They run outside of the sandbox, on its interface, so any workspace with a
// shell will do, whatever the language of the code in it. What the agent did
// wrong comes back as an observation that says what to do; an error is always
// about the infrastructure.
//
// Where they differ from the originals, the originals were wrong: values are not
// stripped, a call inside the thinking is not run, an unknown tool or parameter
// is told to the model, every file can be viewed and not only Python, every
// output is bounded in lines and characters, and a deadline covers the whole
// command line.
package tools
