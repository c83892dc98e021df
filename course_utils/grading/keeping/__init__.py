"""What is kept: verdicts as plain records, in a journal that outlives any interruption."""
