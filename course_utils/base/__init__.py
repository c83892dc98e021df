"""The lowest layer, on which all other packages build. It imports nothing else of the course.

`errors` holds the one exception whose text is meant for a person, `files` writes files whole, `ascii_fallback` plain signs where others cannot be,
`trees` walks through nested values, `paths` knows where the course and its lessons are, `imports` what a module depends on,
`environment` what this Python offers, `words` what messages are put together from.
"""
