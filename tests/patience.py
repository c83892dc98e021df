"""How long a test waits for what must come at last. It is no measure of speed: on a machine that is busy everything takes longer."""

SECONDS = 900
