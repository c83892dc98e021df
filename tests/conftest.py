"""What holds for all tests."""

import signal

# A shell that starts the tests in the background has them ignore Ctrl-C, and all that they start, too: programs whose
# Ctrl-C is tested. One that is handled here is none of theirs, and they begin with their own.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
