"""Translating with a trained model: the `search`, from texts to texts (`translate`), and how good translations are (`scores`)."""
