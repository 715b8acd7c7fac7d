"""The vectors of the class `federation` (Appendix F)."""
