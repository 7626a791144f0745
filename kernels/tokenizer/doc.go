// Package tokenizer turns text into token ids and back with the byte-level BPE
// of the Qwen models, in the tokenizer.json format of Hugging Face.
//
// Text passes these stages, each in its own file:
//
//	added tokens   matched first, in the raw text, leftmost then longest  added.go
//	NFC            Unicode normalisation of what lies between them
//	split          Qwen's pre-tokenizer pattern, one piece after another  split.go
//	bytes          one symbol for each of the 256 bytes                   alphabet.go
//	merges         adjacent symbols joined, lowest rank first             merge.go
//
// What is always true:
//
//   - Every byte string can be encoded, and DecodeBytes of the ids gives back its
//     NFC form exactly. Bytes that are not valid UTF-8 pass through unchanged.
//   - EncodePlain never yields the id of an added token, whatever the text, so text
//     from outside cannot end a turn or open one.
//   - The ids do not depend on what was encoded before or at the same time.
//
// Letters and numbers are those of the Unicode version of Go's unicode package.
// Implementations built on a newer version classify characters assigned since then
// differently.
package tokenizer
