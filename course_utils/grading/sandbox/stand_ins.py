"""Replaces the packages of the course that contain answers to tasks: in the sandbox only what a task offers of them exists.

A notebook may import what it likes from them and gets a name for it. There is nothing behind the name until a task that offers it
runs: then the trusted side sends its source (`judging/offered_source.py`).
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
WITHHELD_PACKAGES = ("models", "translation", "training")  # those that hold an answer to a task


class NotOffered(Exception):
    """Something was used that the current task does not offer."""


class Offers:
    """Finder and loader of the modules of these packages, for `sys.meta_path`. `missed`: whether something unavailable was used."""

    def __init__(self):
        self.missed = False
        names = [
            path.relative_to(PACKAGE.parent).with_suffix("")
            for package in WITHHELD_PACKAGES
            for path in (PACKAGE / package).rglob("*.py")
        ]
        # Listed before the folders become unreadable.
        self._names = {".".join(name.parts).removesuffix(".__init__") for name in names}

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of these packages; None for any other name, which other finders handle."""
        if name in self._names:
            return ModuleSpec(name, self, is_package=name.count(".") == 1)
        return None

    def create_module(self, spec):
        """Leave it to Python to make one."""
        return

    def exec_module(self, module):
        """Give a module every attribute that is asked for."""

        def of_package(name):
            if f"{module.__name__}.{name}" in self._names:
                return import_module(f"{module.__name__}.{name}")
            raise AttributeError(f"{module.__name__} has no {name}")

        def of_module(name):
            if name.startswith("__"):
                raise AttributeError(f"{module.__name__} has no {name}")
            return StandIn(self, module, name)

        module.__getattr__ = of_package if hasattr(module, "__path__") else of_module

    def put(self, sources: dict[str, str]) -> None:
        """Fill modules with what is offered: {"models.attention": source}, each after those that it imports from."""
        for name, source in sources.items():
            module = import_module(f"{PACKAGE.name}.{name}")
            place = PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
            exec(compile(source, str(place), "exec", dont_inherit=True), vars(module))


class StandIn:
    """A name from the course. Using it while nothing is behind it raises NotOffered."""

    def __init__(self, offers, module, name):
        vars(self).update(_offers=offers, _module=module, _name=name, __name__=name)

    def _original(self):
        names = vars(self._module)
        if self._name not in names:
            self._offers.missed = True
            raise NotOffered(
                f"{self._module.__name__}.{self._name} is not at hand where a class is graded, unless the exercise offers it: "
                "your answer should do without it."
            )
        return names[self._name]

    def __call__(self, *args, **options):
        return self._original()(*args, **options)

    def __getattr__(self, name):
        if name.startswith("__") and self._name not in vars(self._module):
            raise AttributeError(name)  # Python itself asks for such names
        return getattr(self._original(), name)

    def __getitem__(self, key):
        return self._original()[key]

    def __iter__(self):
        return iter(self._original())

    def __len__(self):
        return len(self._original())

    def __contains__(self, key):
        return key in self._original()

    def __instancecheck__(self, value):
        """Nothing is an instance of a class that is not available."""
        return self._name in vars(self._module) and isinstance(value, self._original())

    def __subclasscheck__(self, cls):
        """Likewise."""
        return self._name in vars(self._module) and issubclass(cls, self._original())

    def __or__(self, other):
        """Let an annotation name a class of the course that is not available: `Encoder | None`."""
        return self._original() | other if self._name in vars(self._module) else self

    __ror__ = __or__


def install() -> Offers:
    """Replace these packages from now on; none of them may have been imported yet."""
    loaded = [
        name
        for name in sys.modules
        if name.startswith(tuple(f"{PACKAGE.name}.{package}" for package in WITHHELD_PACKAGES))
    ]
    if loaded:
        raise RuntimeError(f"{', '.join(loaded)} would stay in the memory of the process that learners' code runs in")
    offers = Offers()
    sys.meta_path.insert(0, offers)
    return offers
