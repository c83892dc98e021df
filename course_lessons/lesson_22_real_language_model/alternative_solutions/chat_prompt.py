"""Correct answers to 22.chat_prompt in other styles than the solution's."""

import jinja2

# The template of the model's own file, with the default as a variable
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\n' + default + '<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def by_the_template(messages, default):
    template = jinja2.Environment().from_string(TEMPLATE)
    return template.render(messages=messages, default=default, add_generation_prompt=True)


def lines_joined(messages, default):
    pairs = [(message["role"], message["content"]) for message in messages]
    if pairs[0][0] != "system":
        pairs.insert(0, ("system", default))
    lines = [f"<|im_start|>{role}\n{content}<|im_end|>" for role, content in pairs]
    return "\n".join([*lines, "<|im_start|>assistant", ""])


OWN = [by_the_template]
CORRECT = [*OWN, lines_joined]


def inputs(draw):
    texts = ["Hi", "a\nb", " x ", "2 + 2", ""]
    roles = [draw.choice(["system", "user"]), *(draw.choice(["user", "assistant"]) for _ in range(draw.randint(0, 4)))]
    return [{"role": role, "content": draw.choice(texts)} for role in roles], draw.choice(["Be brief.", "Be kind."])
