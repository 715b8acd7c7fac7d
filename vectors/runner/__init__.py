"""`dmp-conformance`: drives an adapter through test vectors and judges what it observed (section 12).

A run goes through these files in this order: `files` reads and refuses vector files, `adapter` starts the
implementer's command and exchanges lines with it, `running` gives it one vector after the other,
`observation` reads what it says, `judge` compares that with what the vector expects, `claims` decides the
claims, and `report` and `junit` write it all down. Nothing here judges an implementation by its own code: lines
are split and blanks are told by this folder's own `text`, and this project lends only its reading of JSON and
its writing to a terminal.
"""
