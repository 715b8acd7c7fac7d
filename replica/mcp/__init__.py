"""Tools by which agents reach this host, over the Model Context Protocol (Appendix B).

`tools` is the table of them: names, parameters, and what each does, which `mail` and `memories` hold. `desk` does one
call for whoever makes it: it reads the arguments, has a thread that has the replica open do the work, and words what
comes of it in JSON. `answers` waits for those of blocking questions. `server` is what the SDK serves, `stdio` and
`http` are the two ways to it.
"""
