// Package checkpoint reads and writes policies in the layout of Hugging Face: a
// directory with config.json, generation_config.json and the weights as
// safetensors. What it writes, transformers, vLLM and SGLang load as it is.
//
// What is always true:
//
//   - A file is complete or absent: it is written under another name, synced,
//     renamed, and the directory is synced.
//   - Equal input gives equal bytes, and so the same SHA-256.
//   - Tensors that Load returns are those of the configuration, all of them, in
//     the order of [Layout], with its shapes.
//   - No file makes the reader allocate more than a small multiple of its own size.
//
// Weights are written to one file of any size; sharded checkpoints of others are
// read.
package checkpoint
