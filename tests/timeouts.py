"""How long a test waits for something that must happen. It does not measure speed: on a busy machine everything takes longer."""

SECONDS = 900
