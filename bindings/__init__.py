"""Bindings of DMP to other protocols: A2A (section 8) and two A2A extensions of other origins."""
