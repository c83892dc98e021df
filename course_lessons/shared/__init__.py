"""What several lessons use: mistakes that more than one task invites, as changes of its steps; tests over candidates; properties; shares of points."""
