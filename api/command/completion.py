"""Completion for bash, zsh and fish, made from the parser."""

from __future__ import annotations

import argparse

_BASH = """\
# quotalab completion for bash: eval "$(quotalab completion bash)"
_quotalab() {{
  local here="${{COMP_WORDS[COMP_CWORD]}}" verb="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) verb="$word"; break ;; esac
  done
  case "$verb" in
{cases}
    *) COMPREPLY=($(compgen -W "{verbs} {options}" -- "$here")) ;;
  esac
  [ -z "$verb" ] || case "$here" in -*) ;; *)
    COMPREPLY+=($(compgen -f -- "$here")) ;;
  esac
}}
complete -o filenames -F _quotalab quotalab
"""
_ZSH = """\
#compdef quotalab
# quotalab completion for zsh: eval "$(quotalab completion zsh)"
_quotalab() {{
  local -a verbs=(
{verbs}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  case "$words[2]" in
{cases}
  esac
}}
compdef _quotalab quotalab
"""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return what a shell evaluates to complete verbs, options and their choices."""
    parts = {name: part for name, part, _ in _verbs(parser)}
    helps = {name: text for name, _, text in _verbs(parser)}
    if shell == "bash":
        return _bash(parser, parts)
    return _zsh(parts, helps) if shell == "zsh" else _fish(parts, helps)


def _verbs(
    parser: argparse.ArgumentParser,
) -> list[tuple[str, argparse.ArgumentParser, str]]:
    (sub,) = (
        action
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    helps = {action.dest: action.help or "" for action in sub._choices_actions}
    return [(name, part, helps.get(name, "")) for name, part in sub.choices.items()]


def _options(part: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in part._actions if action.option_strings]


def _words(part: argparse.ArgumentParser) -> list[str]:
    """Return the options of a verb and the values that it knows."""
    words = [name for a in _options(part) for name in a.option_strings if "--" in name]
    for action in part._actions:
        words += [str(choice) for choice in action.choices or ()]
    return words


def _bash(
    parser: argparse.ArgumentParser, parts: dict[str, argparse.ArgumentParser]
) -> str:
    cases = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(_words(part))}"'
        ' -- "$here")) ;;'
        for name, part in parts.items()
    )
    options = [name for a in _options(parser) for name in a.option_strings]
    return _BASH.format(cases=cases, verbs=" ".join(parts), options=" ".join(options))


def _zsh(parts: dict[str, argparse.ArgumentParser], helps: dict[str, str]) -> str:
    verbs = "\n".join(f"    {name}:{_quoted(helps[name])}" for name in parts)
    cases = "\n".join(
        f"    {name}) compadd -- {' '.join(_words(part))}; _files ;;"
        for name, part in parts.items()
    )
    return _ZSH.format(verbs=verbs, cases=cases)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "’").replace(":", ";") + "'"


def _fish(parts: dict[str, argparse.ArgumentParser], helps: dict[str, str]) -> str:
    lines = ["# quotalab completion for fish: quotalab completion fish | source"]
    lines += [
        f"complete -c quotalab -n __fish_use_subcommand -f -a {name}"
        f" -d {_quoted(helps[name])}"
        for name in parts
    ]
    for name, part in parts.items():
        seen = f"complete -c quotalab -n '__fish_seen_subcommand_from {name}'"
        for action in _options(part):
            long = [o.removeprefix("--") for o in action.option_strings if "--" in o]
            help_text = _quoted((action.help or "").replace("%%", "%"))
            needs = "" if action.nargs == 0 else " -r"
            lines += [f"{seen} -l {option}{needs} -d {help_text}" for option in long]
        for action in part._actions:
            if action.choices:
                values = " ".join(map(str, action.choices))
                lines.append(f"{seen} -a '{values}'")
    return "\n".join(lines) + "\n"
