"""What the providers' servers answer, in each format: calls as broken as they come,
calls after reasoning, and words alone."""
import json


def as_value(text):
    """The arguments where the format has them as a value, None where they are none."""
    try:
        json.loads(text, parse_constant=lambda word: int("no"))
    except ValueError:
        return None
    return text


def openai(calls):
    return json.dumps({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "I look.", "tool_calls": [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
            for i, n, a in calls]}}]})


def responses(calls):
    return json.dumps({"status": "completed", "output": [
        {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]}] + [
        {"type": "function_call", "call_id": i, "id": f"fc_{k}", "name": n, "arguments": a,
         "status": "completed"} for k, (i, n, a) in enumerate(calls)]})


def anthropic(calls):
    """Streamed, for there the arguments are text."""
    events = [{"type": "message_start", "message": {
        "id": "m1", "type": "message", "role": "assistant", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1}}}]
    for k, (i, n, a) in enumerate(calls):
        events += [
            {"type": "content_block_start", "index": k,
             "content_block": {"type": "tool_use", "id": i, "name": n, "input": {}}},
            {"type": "content_block_delta", "index": k,
             "delta": {"type": "input_json_delta", "partial_json": a}},
            {"type": "content_block_stop", "index": k}]
    events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
               {"type": "message_stop"}]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def valued(calls, call, rest):
    """An answer whose arguments are written as they are, also where Python would not."""
    if any(as_value(a) is None for _, _, a in calls):
        return None
    return rest % ",".join(call(i, n) % a for i, n, a in calls)


def quoted(text):
    return json.dumps(text).replace("%", "%%")


def ollama(calls):
    return valued(calls, lambda i, n: '{"id":' + quoted(i) + ',"function":{"name":' + quoted(n) +
                  ',"arguments":%s}}',
                  '{"message":{"role":"assistant","content":"I look.","tool_calls":[%s]},'
                  '"done":true,"done_reason":"stop"}')


def gemini(calls):
    return valued(calls, lambda i, n: '{"functionCall":{"id":' + quoted(i) + ',"name":' +
                  quoted(n) + ',"args":%s}}',
                  '{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."},%s]},'
                  '"finishReason":"STOP"}]}')


def interactions(calls):
    """Streamed, for there the arguments are text."""
    events = [{"event_type": "interaction.created", "interaction": {"status": "in_progress"}}]
    for k, (i, n, a) in enumerate(calls):
        events += [
            {"event_type": "step.start", "index": k,
             "step": {"type": "function_call", "id": i, "name": n, "arguments": {}}},
            {"event_type": "step.delta", "index": k,
             "delta": {"type": "arguments_delta", "arguments": a}},
            {"event_type": "step.stop", "index": k}]
    events += [{"event_type": "interaction.completed",
                "interaction": {"status": "requires_action"}}]
    return "".join(f"event: {e['event_type']}\ndata: {json.dumps(e)}\n\n" for e in events)


FORMATS = {"openai": openai, "responses": responses, "anthropic": anthropic, "ollama": ollama,
           "gemini": gemini, "mistral": openai, "interactions": interactions}

# What a good answer with words alone is.
FINE = {
    "openai": '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},'
              '"finish_reason":"stop"}]}',
    "responses": '{"status":"completed","output":[{"type":"message","role":"assistant",'
                 '"content":[{"type":"output_text","text":"ok"}]}]}',
    "anthropic": '{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],'
                 '"stop_reason":"end_turn"}',
    "ollama": '{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}',
    "gemini": '{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},'
              '"finishReason":"STOP"}]}'}
FINE["interactions"] = ('{"status":"completed","steps":[{"type":"model_output","content":['
                        '{"type":"text","text":"ok"}]}]}')
FINE["mistral"] = FINE["openai"]


# ---- reasoning, words, and a call of f ----

REASONED = {
    "openai": {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "I look.", "tool_calls": [{
            "id": "call_a1", "type": "function",
            "function": {"name": "f", "arguments": '{"x":1}'}}]}}]},
    "responses": {"status": "completed", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [
            {"type": "summary_text", "text": "I think."}], "encrypted_content": "c2VjcmV0"},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
         "phase": "commentary",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_r1", "name": "f",
         "arguments": '{"x":1}', "status": "completed"}]},
    "anthropic": {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "I think.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"x": 1}}]},
    "ollama": {"done": True, "done_reason": "stop", "message": {
        "role": "assistant", "content": "I look.", "thinking": "I think.",
        "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}},
    "gemini": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"text": "I think.", "thought": True}, {"text": "I look."},
        {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2lnbmVk"}]}}]},
    "interactions": {"status": "requires_action", "steps": [
        {"type": "thought", "signature": "c2lnbmVk",
         "summary": [{"type": "text", "text": "I think."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "I look."}]},
        {"type": "function_call", "id": "call_i1", "name": "f", "arguments": {"x": 1}}]},
    "groq": {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "reasoning": "I think.", "content": "I look.", "tool_calls": [{
            "id": "functions.f:0", "type": "function",
            "function": {"name": "f", "arguments": '{"x":1}'}}]}}]},
    "mistral": {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "I think."}]},
            {"type": "text", "text": "I look."}], "tool_calls": [{
                "id": "abcdefgh1", "type": "function",
                "function": {"name": "f", "arguments": '{"x":1}'}}]}}]}}
FINE["groq"] = FINE["openai"]
