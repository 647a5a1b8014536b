"""completion: shell -> the script that completes scrubjay's commands and options in it."""

from __future__ import annotations

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import write, write_json

SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(call: Call, shell: str) -> None:
    """Print the shell completion script.

    bash: eval "$(scrubjay completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc.
    fish: scrubjay completion fish > ~/.config/fish/completions/scrubjay.fish
    """
    from click.shell_completion import get_completion_class

    from scrubjay.surfaces.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None, shell
    script = kind(cli, {}, "scrubjay", "_SCRUBJAY_COMPLETE").source()
    if call.json:
        write_json({"shell": shell, "script": script})
    else:
        write(script)
