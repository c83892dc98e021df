"""The sandbox: what runs alongside a learner's code, and what confines it. This folder, like all of `policy.PUBLIC`, can be read inside it."""
