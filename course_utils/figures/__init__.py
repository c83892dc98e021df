"""What lessons show: `plots`, and `widgets`, plots with sliders."""
