"""Wrong answers to the tasks of lessons 12 to 22 that are right as long as the inputs are plainer than the prompt allows."""

import pytest
from tasks import TASKS, altered, judge_answer

# task, what is changed in the solution, what the report says of it
WRONG = [
    ("22.encode", [("list(word)", "list(word.lower())")], "lower case"),
    ("22.encode", [("list(word)", "list(word.strip())")], "strip the spaces"),
    ("22.encode", [("reduce(merge, merges, list(word))", '" ".join(reduce(merge, merges, list(word))).split()')], "cut at spaces"),
    ("22.encode", [("list(word)", "[each for each in word if each.isalnum()]")], "only letters and digits"),
    ("22.encode", [("list(word)", "[each for each in word if each.isascii()]")], "your tokens spell"),
    ("22.encode", [("list(word)", "[chr(byte) for byte in word.encode()]")], "your tokens spell"),
    ("22.encode", [("(merged[-1], token) ==", "(merged[-1].lower(), token.lower()) ==")], "one of your tokens goes on from"),
    ("22.encode", [("merges, list(word)", "sorted(merges, key=lambda pair: len(''.join(pair))), list(word)")], "shortest text first"),
    ("22.encode", [("return reduce", "return [word] if word in map(''.join, merges) else reduce")], "word whole if a merge spells it"),
    ("22.chat_prompt", [("each['content']}<|im_end|>\\n\"", "'{}'}<|im_end|>\\n\".format(each['content']).format()")], "`.format` fills in every pair of braces"),
    ("22.chat_prompt", [("{each['content']}", "{each['content'].replace('%', '%%')}")], "percent signs"),
    ("22.chat_prompt", [("{each['content']}", "{each['content'].replace('{', '{{').replace('}', '}}')}")], "double the braces"),
    ("22.chat_prompt", [("{each['content']}", "{chr(10).join(each['content'].splitlines())}")], "Your text is right up to"),
    ("22.chat_prompt", [("{each['content']}", "{chr(10).join(filter(None, each['content'].split(chr(10))))}")], "empty lines"),
    ("22.chat_prompt", [("{each['content']}", "{each['content'].replace('<|im_end|>', '')}")], "remove the markers"),
    ("22.chat_prompt", [("{each['role']}", "{each['role'].lower()}")], "roles in lower case"),
    ("22.chat_prompt", [("for each in messages]", "for each in messages if each['content']]")], "with an empty content"),
    ("22.chat_prompt", [("for each in messages]", "for each in messages if each['role'] in ('system', 'user', 'assistant')]")], "none of system, user and assistant"),
    ("22.chat_prompt", [('!= "system"', '== "user"')], "only if it is from the user"),
    ("22.chat_prompt", [("if messages", "if default and messages")], "if the default is empty"),
    ("22.chat_prompt", [('"content": default', '"content": default.strip()')], "Your text is right up to"),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "changes", "words"), WRONG, ids=[f"{task}-{words}" for task, _, words in WRONG])
def test_wrong_only_on_inputs_less_plain_is_told(task_id, changes, words):
    for seed in range(2):
        report = judge_answer(TASKS[task_id], altered(task_id, *changes), seed=seed)
        assert report.state in ("failed", "error") and words in report.message, (seed, str(report))
