"""Translating with a trained model: `search` for a translation, from texts to texts (`translate`), and how good it is (`scores`)."""
