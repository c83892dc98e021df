"""What comes out: points, gradebooks for other programs, pages of feedback, the page about the class."""
