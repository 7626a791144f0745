package tokenizer

import (
	"strings"
	"sync"
)

const (
	// cacheWords bounds the words remembered. Source code and prose repeat some
	// ten thousand words; at 64 bytes and 20 tokens a word the bound is about 5 MiB.
	cacheWords = 1 << 15
	// cacheWordBytes is the longest word remembered: longer ones hardly repeat.
	cacheWordBytes = 64
)

// cache remembers the tokens of words. It forgets all of them when it is full,
// so that a change of subject does not leave it useless.
type cache struct {
	mu    sync.RWMutex
	words map[string][]int32 // guarded by mu; the slices are never written again
}

func (c *cache) get(word string) ([]int32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ids, ok := c.words[word]
	return ids, ok
}

// put keeps ids, which the caller must not change any more. The word is copied,
// so that the text it was cut from can go.
func (c *cache) put(word string, ids []int32) {
	if len(word) > cacheWordBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) >= cacheWords {
		clear(c.words)
	}
	c.words[strings.Clone(word)] = ids
}
