package docker

import (
	"strings"

	"millrace/transforms/sandbox"
)

// prelude are the functions that the shell is given first. They are made of
// builtins alone, so they need nothing of the image, and each runs in a
// subshell, so the shell stays where it is. What they print ends in NUL bytes,
// the one byte that no path holds.
//
//	_locate DIR NAME...   the kind of each NAME as it is reached from the one
//	                      before: for a directory "d" and its real path; for the
//	                      last one its kind. It ends at the first that is no
//	                      directory. Kinds: d directory, x executable file, f other
//	                      file, l link, o other, n nothing.
//	_list DIR             kind and name of each entry
//	_oom                  how many processes the kernel has killed for memory
const prelude = `
_kind() {
  if [ -h "$1" ]; then printf l
  elif [ -d "$1" ]; then printf d
  elif [ -f "$1" ]; then if [ -x "$1" ]; then printf x; else printf f; fi
  elif [ -e "$1" ]; then printf o
  else printf n
  fi
}
_locate() (
  cd -P -- "$1" 2>/dev/null || exit 3
  printf 'd%s\0' "$PWD"
  shift
  while [ $# -gt 1 ]; do
    if cd -P -- "./$1" 2>/dev/null; then printf 'd%s\0' "$PWD"
    else _kind "./$1"; printf '\0'; exit 0
    fi
    shift
  done
  [ $# -eq 0 ] || { _kind "./$1"; printf '\0'; }
)
_list() (
  cd -P -- "$1" 2>/dev/null || exit 3
  for f in .* *; do
    case $f in .|..) continue;; esac
    k=$(_kind "./$f")
    [ "$k" = n ] || printf '%s%s\0' "$k" "$f"
  done
)
_oom() (
  for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$f" ] || continue
    while read -r k v; do [ "$k" = oom_kill ] && printf %s "$v"; done <"$f"
    exit 0
  done
)
unset ENV BASH_ENV
`

// scrub takes out of the repository in the current directory what is not an
// ancestor of its commit. Without git in the image nothing but the whole history
// can be taken away.
const scrub = `
if [ -e .git ]; then
  if git --version >/dev/null 2>&1 && [ -d .git ]; then
    set -e
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
    git for-each-ref --no-merged=HEAD --format='delete %(refname)' | git update-ref --stdin
    for r in $(git remote); do git remote remove "$r"; done
    rm -rf .git/logs .git/refs/stash .git/*_MSG .git/*_EDITMSG .git/*?_HEAD .git/rebase-* .git/sequencer .git/worktrees
    git reflog expire --expire=now --all
    git -c gc.cruftPacks=false gc -q --prune=now
  else
    rm -rf .git
  fi
fi
`

// words are several arguments of a function of the prelude.
func words(list ...string) string {
	quoted := make([]string, len(list))
	for i, w := range list {
		quoted[i] = sandbox.Quote(w)
	}
	return strings.Join(quoted, " ")
}
