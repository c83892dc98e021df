"""Task 90.reinforce_loss: a gradient that must not arrive, and one that nobody looks at."""

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the loss of REINFORCE",
    arguments=("log_probability B", "reward B", "baseline B"),
    result="loss",
    gradient_not_asked=("reward",),
    difficulty=2,
    importance=3,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=13):
        yield Case(f"{size.B} examples", tuple(draw.numbers(size.B) for _ in range(3)), gradient=True)


@task.oracle
def _(log_probability, reward, baseline):
    return -((reward - baseline).detach() * log_probability).mean()


@task.mistake()
def ascent(log_probability, reward, baseline):
    return -task.oracle_function(log_probability, reward, baseline)


@task.mistake()
def no_baseline(log_probability, reward, baseline):
    return -(reward * log_probability).mean()


@task.mistake()
def summed(log_probability, reward, baseline):
    return task.oracle_function(log_probability, reward, baseline) * len(reward)
