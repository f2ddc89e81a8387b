"""Real reports, read by a hand of their own, against what the product makes of them."""
