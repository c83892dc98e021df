"""What authors of lessons need: the build, the style guide's rules, and everything that `course test` runs."""
