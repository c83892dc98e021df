"""The course as a folder of web pages: `course site`. Each page is made from a notebook and the facts of its lesson.

`pages.py` makes a page from a notebook, `contents.py` the pages that have no notebook, `build.py` has Sphinx write them all, and `page/`
holds what runs in a reader's browser. Nothing on a page is fetched from elsewhere, and the folder can be opened from a disk.
"""
