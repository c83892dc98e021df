"""The data that lessons and models run on: generated worlds whose truth is known, and real sets that are downloaded once.

`generated_reviews` and `world` are made from a seed; `sst2`, `multi30k` and `shakespeare` are read from files that `download` fetches and checks;
`loading` chooses between real and generated reviews; `subwords` turns texts into ids and back.
"""
