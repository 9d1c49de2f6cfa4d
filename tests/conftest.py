"""Hypothesis draws the same examples each time; ``--hypothesis-profile=explore`` draws new ones."""

from hypothesis import HealthCheck, settings

_slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **_slow_is_fine)
settings.register_profile("explore", max_examples=2000, **_slow_is_fine)
settings.load_profile("same")
