"""The ground floor: what all other rooms stand on. It imports nothing else of the course.

`errors` holds the one exception whose text is meant for a person, `files` writes files whole, `signs` plain signs where others cannot be,
`trees` walks through nested values, `places` knows where the course and its lessons lie, `imports` what a module depends on,
`environment` what this Python offers.
"""
