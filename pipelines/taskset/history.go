package taskset

// cutHistory, for sh with -e in a repository, puts what came after HEAD out of
// reach: the commit that repairs the fault is in the clone of many images, under a
// branch of the remote, a tag, or the reflog. What HEAD descends from stays, and its
// tags, which give packages their version. An image that was published without such
// commits is left as it is, since packing a large repository takes a minute.
const cutHistory = `if [ -n "$(git rev-list -n 1 --all --reflog --not HEAD)" ]; then
  git checkout -q --detach
  git remote | while read -r name; do git remote remove "$name"; done
  git for-each-ref --format='%(refname)' --no-merged HEAD | while read -r name; do git update-ref -d "$name"; done
  rm -f "$(git rev-parse --git-path FETCH_HEAD)" "$(git rev-parse --git-path ORIG_HEAD)"
  git reflog expire --expire=now --expire-unreachable=now --all
  git gc -q --prune=now
fi
`
