"""What people read: links, every example, the tutorials, the documentation's site."""
