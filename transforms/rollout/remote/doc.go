// Package remote is the policy on servers: vLLM, SGLang, or any that speaks their
// HTTP dialect. It has the methods of rollout.Policy.
//
//	session ──► Policy.acquire ──► endpoint ──► dialect ──► HTTP
//	  │            │                  │
//	  │            │                  └─ version, requests in flight, health
//	  │            └─ sticky; least sessions at Open; waits while weights change
//	  └─ the ids of the whole sequence
//
// What always holds in training:
//
//   - Invariant 3, token in, token out. A session sends the ids of its whole
//     sequence and appends the ids that the server sampled, with the server's
//     log-probabilities. No text is encoded. An echo of the prompt's ids must
//     equal what was sent. An answer without ids or log-probabilities, or with
//     log-probabilities of another distribution than was sampled from, is refused.
//   - Every completion is of one policy version (pinned). An endpoint takes no
//     request while its weights change, and its weights do not change before its
//     requests have ended; each has a deadline, so the wait is bounded. Nothing
//     is split, and nothing is thrown away because it was long, which would favour
//     short turns.
//   - A token is sampled only by an endpoint that holds the version published last.
//     One that fails, restarts, or tells of other weights is set aside until the
//     background has brought it up to that version.
//   - Every call has a deadline, and no answer is read beyond its bound.
//
// # What is checked of the weights
//
// SGLang names its weights in every answer (meta_info.weight_version); an answer of
// other weights than the endpoint was given is not used, and sampled again
// elsewhere. vLLM answers without a name. Where it has GET /weight_info, the name
// is read after each hand-over and with each health check; an older one is taken at
// its word that the reload succeeded. A vLLM server that fails a request or a
// health check may have restarted with the weights of its command line, so it gets
// the weights again before it is used; one that restarts within Config.HealthEvery,
// and drops no request, would go unseen.
//
// # Evaluation
//
// With Config.Evaluation a server needs neither ids nor log-probabilities. Its text
// is encoded by Config.Tokenizer, and such a completion has LogProbs 0 and Versions
// -1: what a record says of tokens that no policy version sampled. The contract of
// a trajectory (schemas.Trajectory.Validate) refuses version -1 at a trained token,
// so they can be counted and read, never trained on.
//
// The chat dialect is for evaluation alone: the server renders the messages by its
// own template, which may drop or trim parts of them, so what the policy saw is not
// known. The ids are taken apart into ChatML messages byte for byte; a sequence
// that is not whole ChatML messages and one open assistant message is refused.
//
// # Random numbers
//
// The seed of a request is a function of the session's seed and of the position,
// so that turns do not share random numbers. vLLM draws by it; SGLang does with
// --enable-deterministic-inference only.
package remote
