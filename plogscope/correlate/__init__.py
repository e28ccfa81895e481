"""Identity, clocks and incidents: findings become failures of somebody at some time."""
