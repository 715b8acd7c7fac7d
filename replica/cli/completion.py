"""`dmp completion`: what makes a shell complete the commands and options of `dmp`."""

import click
from click.shell_completion import get_completion_class

from replica.cli.context import Cli, command, pass_cli

_VARIABLE = "_DMP_COMPLETE"
"""What a shell sets to ask `dmp` how a line goes on. The name is click's, made of the program's."""


@command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@pass_cli
def completion(cli: Cli, shell: str) -> None:
    """Print what makes SHELL complete what you type of `dmp`.

    For good, put `eval "$(dmp completion bash)"` into ~/.bashrc, or the same with zsh into ~/.zshrc; for fish, let it
    go to ~/.config/fish/completions/dmp.fish.
    """
    made = get_completion_class(shell)
    assert made is not None
    script = made(click.get_current_context().find_root().command, {}, "dmp", _VARIABLE).source()
    if cli.as_json:
        cli.screen.document({"script": script})
    else:
        click.echo(script)
