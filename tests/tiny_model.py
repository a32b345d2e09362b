"""A language model of 1.9 MB, made here, for a real inference server to run.

It has one layer that does nothing. Its next token depends on the last one alone:
the embedding of a token is a row of the identity, and the output matrix is a table
of how much one token likes to follow another. So the server's own template,
grammar, sampling, parser and streaming do all the work, and the arguments of the
calls are random but for the grammar that the server makes of the schemas.

The last token of the prompt decides what comes: a call after a plain question; thoughts,
words and a call after one with "think" in it; words alone after "talk" and after a
result of a tool.
"""
import array
import struct

TOKENS = 320
WORDS = "All done. Größe 温度."
# Special tokens; those of kind 3 are never shown, those of kind 4 are text.
SPECIAL = [("<|end|>", 3), ("<|im_start|>", 3), ("<|im_end|>", 3), ("<tool_call>", 4),
           ("</tool_call>", 4), ("<think>", 4), ("</think>", 4), ("<|talk|>", 3),
           ("<|call|>", 3), ("<|both|>", 3), (WORDS, 4), ("Let me look.", 4),
           ("I ponder this.", 4)]
NUMBER = {name: 256 + i for i, (name, _) in enumerate(SPECIAL)}

# One token, the one after it, and how much it likes to come.
FOLLOWS = [("<|call|>", "<tool_call>", 40), ("<|both|>", "<think>", 40),
           ("<think>", "I ponder this.", 40), ("I ponder this.", "</think>", 40),
           ("</think>", "Let me look.", 40), ("Let me look.", "<tool_call>", 40),
           ("<|talk|>", WORDS, 40), (WORDS, "<|im_end|>", 40),
           ("</tool_call>", "<|im_end|>", 20), ("</tool_call>", "\n", 20),
           ("<tool_call>", "\n", 40), ("\n", "{", 16), ("\n", "<tool_call>", 10),
           ("\n", "</tool_call>", 9), ("}", "</tool_call>", 9), ("}", "\n", 9),
           (" ", " ", -6)]

TEMPLATE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson + '\\n' }}
    {%- endfor %}
    {{- 'A call is <tool_call>\\n{"name": ..., "arguments": {...}}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- set ask = namespace(kind='<|call|>') %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- if message.reasoning_content %}
        {{- '<think>' + message.reasoning_content + '</think>' }}
    {%- endif %}
    {%- if message.content %}
        {{- message.content }}
    {%- endif %}
    {%- for call in message.tool_calls or [] %}
        {{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
        {{- call.function.arguments | tojson + '}\\n</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
    {%- if message.role == 'tool' or message.content and 'talk' in message.content %}
        {%- set ask.kind = '<|talk|>' %}
    {%- elif message.role == 'user' %}
        {%- set ask.kind = '<|call|>' %}
        {%- if 'think' in message.content %}
            {%- set ask.kind = '<|both|>' %}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' + ask.kind }}
{%- endif %}"""


def byte_names():
    """Each byte as the character that stands for it in vocabularies of GPT-2."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    hidden = (chr(n) for n in range(256, 512))
    return [chr(b) if b in shown else next(hidden) for b in range(256)]


def likings():
    """likings()[token][next]: the output matrix."""
    row = [0.0] * TOKENS
    row[:32] = [-6.0] * 32  # control characters
    row[ord('"')] = 4.0     # ends a text soon
    row[128:256] = [-2.0] * 128
    row[256:] = [-20.0] * (TOKENS - 256)
    table = [list(row) for _ in range(TOKENS)]
    for first, then, much in FOLLOWS:
        table[number(first)][number(then)] = float(much)
    return table


def number(token):
    return NUMBER[token] if token in NUMBER else ord(token)


# ---- the file: version 3 of GGUF ----

def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def whole(key, value):
    return entry(key, 4, struct.pack("<I", value))


def words(key, value):
    return entry(key, 8, text(value))


def many(key, kind, values):
    return entry(key, 9, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def entries():
    names = byte_names() + [name for name, _ in SPECIAL]
    kinds = [1] * 256 + [kind for _, kind in SPECIAL]
    names += [f"<|unused{n}|>" for n in range(len(names), TOKENS)]
    kinds += [5] * (TOKENS - len(kinds))
    return [
        words("general.architecture", "llama"), words("general.name", "tiny"),
        whole("llama.context_length", 65536), whole("llama.embedding_length", TOKENS),
        whole("llama.block_count", 1), whole("llama.feed_forward_length", 32),
        whole("llama.attention.head_count", 5), whole("llama.attention.head_count_kv", 1),
        entry("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-6)),
        whole("llama.rope.dimension_count", 64), whole("llama.vocab_size", TOKENS),
        words("tokenizer.ggml.model", "gpt2"), words("tokenizer.ggml.pre", "gpt-2"),
        many("tokenizer.ggml.tokens", 8, [text(name) for name in names]),
        many("tokenizer.ggml.token_type", 5, [struct.pack("<i", kind) for kind in kinds]),
        many("tokenizer.ggml.merges", 8, [text(f"{names[0]} {names[1]}")]),
        whole("tokenizer.ggml.bos_token_id", NUMBER["<|end|>"]),
        whole("tokenizer.ggml.eos_token_id", NUMBER["<|im_end|>"]),
        entry("tokenizer.ggml.add_bos_token", 7, b"\0"),
        words("tokenizer.chat_template", TEMPLATE)]


def tensors():
    """(name, size of each dimension, numbers)"""
    n = TOKENS
    one = [1.0] * n
    # What comes out of the norm is a row of the identity times this.
    scale = n ** 0.5
    identity = [float(i == k) for i in range(n) for k in range(n)]
    table = likings()
    output = [table[token][after] / scale for after in range(n) for token in range(n)]
    return [("token_embd.weight", (n, n), identity), ("output_norm.weight", (n,), one),
            ("output.weight", (n, n), output), ("blk.0.attn_norm.weight", (n,), one),
            ("blk.0.attn_q.weight", (n, n), [0.0] * n * n),
            ("blk.0.attn_k.weight", (n, 64), [0.0] * n * 64),
            ("blk.0.attn_v.weight", (n, 64), [0.0] * n * 64),
            ("blk.0.attn_output.weight", (n, n), [0.0] * n * n),
            ("blk.0.ffn_norm.weight", (n,), one),
            ("blk.0.ffn_gate.weight", (n, 32), [0.0] * n * 32),
            ("blk.0.ffn_up.weight", (n, 32), [0.0] * n * 32),
            ("blk.0.ffn_down.weight", (32, n), [0.0] * n * 32)]


def padded(data):
    return data + bytes(-len(data) % 32)


def model():
    """The bytes of the file."""
    about, parts = entries(), tensors()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(about)) + b"".join(about)
    data = b""
    for name, sizes, numbers in parts:
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, len(data))
        data += padded(array.array("f", numbers).tobytes())
    return padded(head) + data
