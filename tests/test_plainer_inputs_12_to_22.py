"""Wrong answers to the tasks of lessons 12 to 22 that are right as long as the inputs are plainer than the prompt allows."""

import pytest
import sampling
from tasks import TASKS, altered, judge_answer

# task, what is changed in the solution, what the report says of it
WRONG = [
    ("12.encoder_layer", [("key_padding_mask=~mask", "key_padding_mask=torch.arange(x.shape[1]) >= mask.sum(1, keepdim=True)")], "as if padding always came last"),
    ("12.decoder_layer", [("hidden = ~memory_mask", "hidden = torch.arange(memory.shape[1]) >= memory_mask.sum(1, keepdim=True)")], "as if padding always came last"),
    ("13.paired_difference", [("[changed[seed] - plain[seed]", "[round(changed[seed] - plain[seed], 1)")], "one decimal"),
    ("13.paired_difference", [("[changed[seed] - plain[seed]", "[int(2 * (changed[seed] - plain[seed])) / 2")], "difference"),
    ("13.paired_difference", [("> 0)", "> 0.1)"), ("< 0)", "< -0.1)")], "near 0 like 0"),
    ("13.paired_difference", [("> 0)", "> 1e-2)"), ("< 0)", "< -1e-2)")], "differences are"),
    ("13.paired_difference", [("seed in changed]", "changed.get(seed)]")], "with the change is 0"),
    ("13.paired_difference", [("for seed in plain if", "for seed in range(100) if seed in plain and")], "division by zero"),
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
    ("22.catch_silent_mistake", [("torch.allclose(each, right, atol=1e-4)", "(each - right).abs().mean() < 0.01")], "averages the sizes"),
    ("22.catch_silent_mistake", [("torch.allclose(each, right, atol=1e-4)", "(each - right).square().mean() < 1e-3")], "single logit"),
    ("22.catch_silent_mistake", [("torch.allclose(each, right, atol=1e-4)", "torch.allclose(each.softmax(-1), right.softmax(-1), atol=1e-4)")], "adds a number to all logits"),
    ("22.catch_silent_mistake", [("torch.allclose(each, right, atol=1e-4)", "torch.allclose(each - each.mean(-1, keepdim=True), right - right.mean(-1, keepdim=True), atol=1e-4)")], "adds a number to all logits"),
    ("22.catch_silent_mistake", [("torch.cat(logits)", "torch.cat([each[1:] for each in logits])"), ("torch.cat(read(texts, first))", "torch.cat([each[1:] for each in read(texts, first)])")], "leaves out the first position"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.softmax(-1), expected.softmax(-1), atol=1e-5)")], "add a number to every entry"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came - came.mean(-1, keepdim=True), expected - expected.mean(-1, keepdim=True), atol=1e-5)")], "add a number to every entry"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.flatten()[1:], expected.flatten()[1:], atol=1e-5)")], "wrong only in the first entry"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "(came - expected).abs().mean() < 2e-4")], "number is wrong, too "),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.abs(), expected.abs(), atol=1e-5)")], "has the opposite sign passes"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.norm(dim=-1), expected.norm(dim=-1), atol=1e-5)")], "compare the lengths of rows"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.sort(-1).values, expected.sort(-1).values, atol=1e-5)")], "if you sort them"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came.sort(1).values, expected.sort(1).values, atol=1e-5)")], "positions are in the opposite order"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "torch.allclose(y.softmax(-1), expected.softmax(-1), atol=1e-5)")], "add a number to every entry"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "torch.allclose(y - y.mean(-1, keepdim=True), expected - expected.mean(-1, keepdim=True), atol=1e-5)")], "add a number to every entry"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "torch.allclose(y.flatten()[1:], expected.flatten()[1:], atol=1e-5)")], "wrong only in the first entry"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "(y - expected).abs().mean() < 1e-3")], "in a single entry, by little"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "(y - expected < 1e-5).all()")], "wrong only in the last entry"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result.softmax(-1), expected.softmax(-1), atol=1e-5)")], "weights and losses are too large by 0.1"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result - result.mean(), expected - expected.mean(), atol=1e-5)")], "weights and losses are too large by 0.1"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result.abs(), expected.abs(), atol=1e-5)")], "has the opposite sign passes"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result.norm(dim=-1), expected.norm(dim=-1), atol=1e-5)")], "compare the lengths of rows"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result.sort().values, expected.sort().values, atol=1e-5)")], "if you sort them"),
    ("13.catch_wrong_step", [("*(weight.flatten() for", "*(weight.sort(0).values.flatten() for")], "rows of its weights are in the opposite order"),
    ("13.label_smoothing_loss", [("label_smoothing=smoothing", "label_smoothing=min(smoothing, 0.9)")], "expected 0."),
    ("13.label_smoothing_loss", [("[1 - smoothing + smoothing / V, smoothing / V]", "[max(1 - smoothing, 0.1) + smoothing / V, smoothing / V]")], "loss is"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result[1:], expected[1:], atol=1e-5)")], "only the very first number of its weights is wrong"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result[:-1], expected[:-1], atol=1e-5)")], "only its last loss is wrong"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "(result - expected).abs().mean() < 1e-3")], "in a single entry, by little"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result, expected, atol=1e-3)")], "by 0.0003"),
    ("13.catch_wrong_step", [("torch.allclose(result, expected, atol=1e-5)", "torch.allclose(result, expected, rtol=0, atol=5e-4)")], "by 0.0003"),
    ("17.catch_wrong_write", [("torch.allclose(came, expected, atol=1e-5)", "torch.allclose(came, expected, atol=1e-3)")], "too large by 0.0003"),
    ("17.dnc_write", [("usage.sort(dim=1, stable=True)", "usage.sort(dim=1)[0], torch.tensor([[row.index(u) for u in sorted(row)] for row in usage.tolist()])"), (".scatter(", ".scatter_add(")], "equally free"),
    ("18.catch_wrong_routing", [("torch.allclose(y, expected, rtol=0, atol=1e-5)", "torch.allclose(y, expected, rtol=0, atol=1e-3)")], "too large by 0.0003"),
    ("14.bright_cell", [("* 2 / side", "/ (side // 2)")], "half a pixel is lost"),
    ("19.ideal_weights", [("torch.cat([torch.tensor([False]), shown])", "torch.cat([torch.tensor([0]), characters[:-1]]) == characters[-1]")], "Step 0 gets a weight"),
    ("19.ideal_weights", [("torch.cat([torch.tensor([False]), shown])", "torch.cat([torch.tensor([-1]), characters[:-1]]) == characters[-1]")], "Step 0 gets a weight"),
    ("19.ideal_weights", [("characters[:-1] == characters[-1]", "torch.eye(10)[characters[:-1], characters[-1]] > 0")], "out of bounds"),
    ("20.mean_rates", [("key[:, :, None] == key[:, None]", "torch.eye(2000)[key[:, :, None], key[:, None]] > 0")], "out of bounds"),
    ("22.classify", [("score(unlabelled).median()", "score(unlabelled).median() + 0.01")], "have a score above the median"),
    ("22.classify", [("return log_p[:, positive] - log_p[:, negative]", "return (log_p[:, positive] - log_p[:, negative]).round(decimals=1)")], "expected"),
    ("22.classify", [("score(unlabelled).median()", "(every := score(unlabelled).unique())[len(every) // 2]")], "have a score above the median"),
    ("22.unpack", [("scale[:, None] * numbers", "scale.half()[:, None] * numbers")], "expected"),
    ("22.induction_score", [("weights[:, queries, keys].mean(-1)", "(found := weights[:, queries, keys]).sum(-1) / (found > 0).sum(-1).clamp(min=1)")], "score[0] is 1, expected 0."),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "changes", "words"), sampling.usually(WRONG, 16))
def test_wrong_only_on_inputs_less_plain_is_told(task_id, changes, words):
    for seed in range(2):
        report = judge_answer(TASKS[task_id], altered(task_id, *changes), seed=seed)
        assert report.state in ("failed", "error") and words in report.message, (seed, str(report))


def test_threshold_itself_not_above_it_is_a_remark():
    report = judge_answer(
        TASKS["22.classify"], altered("22.classify", ("score(logits) > threshold", "score(logits) >= threshold"))
    )
    assert report.state == "passed" and "equals the threshold" in report.message
