package train

import "runtime/debug"

// codeVersion names the code of this process for the ledger: the commit that the
// Go toolchain stamped into the binary, with "+modified" behind it where the
// working tree had changes. It is empty in a test and in a build outside of a
// repository.
func codeVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit != "" && settings["vcs.modified"] == "true" {
		commit += "+modified"
	}
	return commit
}
