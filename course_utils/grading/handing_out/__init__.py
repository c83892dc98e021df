"""What a class is given: a lesson's exercises, or a course for nbgrader."""
