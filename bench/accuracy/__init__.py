"""docs/accuracy.md, made from public measurements with haul as its users have it: a module a topic."""
