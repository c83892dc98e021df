"""Storage: verdicts as plain records, in a journal that survives any interruption."""
