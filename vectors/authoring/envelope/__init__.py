"""The vectors of class `envelope`: what needs a validator alone."""
