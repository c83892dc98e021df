"""The lowest layer, on which all other packages build. It imports nothing else of the course.

`errors` holds the one exception whose text is meant for a person, `files` writes whole files, `ascii_fallback` replaces unprintable signs,
`trees` walks through nested values, `paths` knows where the course and its lessons are, `imports` what a module depends on,
`environment` what this Python offers, `words` makes parts of messages.
"""
