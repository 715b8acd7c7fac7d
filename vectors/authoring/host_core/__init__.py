"""The vectors of class `host-core`: what needs a host that stores and delivers."""
