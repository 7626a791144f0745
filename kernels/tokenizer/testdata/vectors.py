"""Makes the vectors that the tokenizer is tested against, with the `tokenizers` package of Hugging Face.

    pip install tokenizers==0.23.3
    python vectors.py qwen3 MERGES.TXT   -> qwen3_vectors.json    Qwen3's vocabulary from its merge list
    python vectors.py small              -> small.json, small_vectors.json    trained on corpus.txt
    python vectors.py check DIRECTORY    reads the tokenizer.json that we wrote there; same vectors as small_vectors.json?
"""

import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ADDED = """<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|>
<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> <tool_call>
</tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> <tool_response>
</tool_response> <think> </think>""".split()


def build(model):
    t = Tokenizer(model)
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    t.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    t.decoder = decoders.ByteLevel()
    return t


def add(t, contents):
    t.add_tokens([AddedToken(c, special=c.startswith("<|"), normalized=False) for c in contents])


TEXTS = [
    "", " ", "  ", "\n", "\r\n", "\t\t\t", "a", "Hello, world!", "Hello world  ", "  leading", "trailing \n", "I'm you're he'll WE'VE don'T it'S I'd",
    "'ſ long s", "''''s", "1234567890", "3.14159e-10", "0xDEADBEEF", "v1.26.8", "½ ² Ⅷ ٣٤٥ १२३", "a1b2c3", "x  =  1", "x\u00a0=\u00a01", "a\u2003b\u2028c\u2029d\u0085e",
    "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hi\")\n}\n", "if a != b && c <= d || !e {\r\n\t\treturn nil, fmt.Errorf(\"x: %w\", err)\r\n}\r\n",
    "def f(x):\n    return [i ** 2 for i in range(x) if i % 2 == 0]  # squares\n", "<html><body class=\"a\">&amp;</body></html>", "SELECT * FROM t WHERE a = 'b';--",
    "--- FAIL: TestMax (0.00s)\n    max_test.go:14: Max(3, 2) = 2, want 3\nFAIL\nexit status 1\nFAIL\texample/max\t0.002s\n",
    "diff --git a/x.go b/x.go\n@@ -1,3 +1,3 @@\n-\treturn a < b\n+\treturn a <= b\n", "{\"a\": [1, 2.5, null, true], \"b\": \"\\u00e9\\n\"}", "https://example.com/path?q=1&r=%20#frag",
    "user@example.com", "C:\\Users\\x\\file.txt", "/usr/local/go/src/fmt/print.go:123", "    four\n        eight\n\ttab\n", "\n\n\n\nmany\n\n\nlines\n\n", " \n \n \n", "a \n\n b", "...!!!???", "!?\n\n", "(((())))",
    "Das Mühlrad dreht größer und schöner", "où ça naïve façade", "Привет, мир", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "你好，世界！", "こんにちは世界", "안녕하세요 세계", "አማርኛ",
    "é", "e\u0301", "A\u030a", "\u1e9b\u0323", "\u0344", "\u2126", "\uac00\u11a8", "\u1100\u1161\u11a8", "q\u0307\u0323", "\u0301start", "ﬁ ligature ﬀ", "Å ångström",
    "👍", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪🇫🇷", "☃️ snow", "emoji🙂inside", "🙂🙃 🙂", "\u200b\u200d\ufeff", "\x00\x01\x7f", "\x1b[31mred\x1b[0m", "\ufffd", "\U0010ffff", "\ue000",
    "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", "<|im_start|><|im_end|>", "x<|im_end|>y", "<|im_end", "|im_end|>", "<<|im_end|>>", "<|endoftext|>", "<think>\nhm\n</think>\n\n<tool_call>{}</tool_call>", "<|im_start|>\u0301x", "e<|im_end|>\u0301",
    "a" * 300, "ab" * 200, " " * 50, "\n" * 20, "=" * 80, "-" * 33 + ">", "the the the the", "The THE tHe", "antidisestablishmentarianism", "_snake_case_name", "camelCaseName", "SCREAMING_CASE", "kebab-case-name", "x.y.z()", "a+=b;c--;++d", "#!/bin/sh", "// comment", "/* block */", "`code`", "**bold** _it_", "“quoted” ‘single’", "it’s", "$100 €5 £3", "50%", "1,000,000", "2026-11-20T23:57:18Z",
]


def texts():
    """The list above and random strings dense in what the pattern distinguishes."""
    alphabet = "  \t\n\r\u00a0'sStTrReElLmMdD aßé漢あ019½.,(){}\u0301👍"
    rng = random.Random(7)
    return TEXTS + ["".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 60))) for _ in range(40)]


def write(path, t):
    rows = []
    for text in texts():
        ids = t.encode(text, add_special_tokens=False).ids
        rows.append({"text": text, "ids": ids, "decoded": t.decode(ids, skip_special_tokens=False)})
    rng = random.Random(8)
    # Random ids end in the middle of characters: their text shows where U+FFFD goes.
    for _ in range(40):
        ids = [rng.randrange(256) for _ in range(rng.randrange(1, 12))]
        rows.append({"ids": ids, "decoded": t.decode(ids, skip_special_tokens=False)})
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


def main():
    match sys.argv[1:]:
        case ["qwen3", merges]:
            pairs = [tuple(line.split(" ")) for line in pathlib.Path(merges).read_text(encoding="utf-8").split("\n") if line]
            vocab = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
            for left, right in pairs:
                vocab[left + right] = len(vocab)
            t = build(models.BPE(vocab, pairs))
            add(t, ADDED)
            write(HERE / "qwen3_vectors.json", t)
        case ["small"]:
            t = build(models.BPE())
            # Whole: the trainer's own file reader would cut the text at line ends.
            text = (HERE / "corpus.txt").read_text(encoding="utf-8")
            t.train_from_iterator([text], trainers.BpeTrainer(
                vocab_size=640, min_frequency=2, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
            add(t, ADDED)
            t.save(str(HERE / "small.json"))
            write(HERE / "small_vectors.json", t)
        case ["check", directory]:
            t = Tokenizer.from_file(str(pathlib.Path(directory) / "tokenizer.json"))
            for row in json.loads((HERE / "small_vectors.json").read_text()):
                if "text" in row:
                    assert t.encode(row["text"], add_special_tokens=False).ids == row["ids"], row
                assert t.decode(row["ids"], skip_special_tokens=False) == row["decoded"], row
            print("same")
        case _:
            sys.exit(__doc__)


main()
