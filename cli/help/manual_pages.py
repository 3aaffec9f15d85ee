#!/usr/bin/env python3
"""Writes the manual pages from the help of the commands: resmem.1, resmem-tune.1, resmem-lm-tokens.1, ...

    manual_pages.py PROGRAM FOLDER

The pages of a program's siblings are written where the sibling is installed. The date is that of
SOURCE_DATE_EPOCH, or the program's, so that the same program gives the same pages."""
import datetime
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from help_reader import command_names, parse, run  # noqa: E402


def roff(text):
    """Text as it is: no letter of it is an instruction."""
    text = text.replace("\\<", "<").replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def heading(name, date, version):
    return f'.TH {name.upper()} 1 {date} "resmem {version}" "resmem manual"\n'


def command_page(command, help_text, date, version):
    one, name = parse(help_text), "resmem-" + command.replace(" ", "-")
    usage = one["usage"].split(" ")
    words = 1 + len(command.split())
    text = heading(name, date, version)
    text += f".SH NAME\n{roff(name)} \\- {roff(one['summary'])}\n"
    text += f".SH SYNOPSIS\n.B {roff(' '.join(usage[:words]))}\n{roff(' '.join(usage[words:]))}\n"
    if one["details"] or one["notes"]:
        text += ".SH DESCRIPTION\n" + ".PP\n".join(roff(part) + "\n" for part in one["details"] + one["notes"])
    for group in one["groups"]:
        text += f'.SH "{roff(group.title.upper())}"\n'
        for option in group.options:
            default = f" ({option.default})" if option.default else ""
            text += f".TP\n.B {roff(option.title)}\n{roff(option.text + default)}\n"
    if one["examples"]:
        text += f".SH EXAMPLES\n.nf\n{roff(one['examples'])}\n.fi\n"
    return name, text + ".SH \"SEE ALSO\"\n.BR resmem (1)\n"


def main_page(overview, commands, date, version):
    summary = re.match(r"resmem \S+: (.*)", overview)[1]
    text = heading("resmem", date, version) + f".SH NAME\nresmem \\- {roff(summary)}\n"
    text += ".SH SYNOPSIS\n.B resmem\n.I COMMAND\n[options]\n.SH DESCRIPTION\n"
    text += ("resmem stores what a model got wrong on its training data beside the model's own embedding of each\n"
             "example. A prediction is then the model's probability plus the weighted mean error of the nearest\n"
             "examples.\n")
    for block in overview.split("'resmem COMMAND")[0].split("\n\n")[2:]:
        title, _, body = block.partition("\n")
        if not body:
            continue
        text += f'.SH "{roff(title.rstrip(":").upper())}"\n'
        for line in body.splitlines():
            words = re.match(r"  ([a-z]+(?: [a-z0-9]+)?)  +(.*)", line)
            if words:
                page = "resmem-" + words[1].replace(" ", "-")
                text += f".TP\n.B {roff(words[1])}\n{roff(words[2])}: see\n.BR {roff(page)} (1)\n"
    names = ["resmem-" + command.replace(" ", "-") for command in commands]
    text += ('.SH "EXIT STATUS"\n0: done. 1: the system refused to read or write. 2: the command line is wrong.\n3: arrays, models '
             "or memories that are missing, wrong or corrupt.\n4: not enough memory or space. 5: the work is done and its answer is "
             "no.\n70: a bug in resmem. 128 and the signal: stopped.\n")
    text += '.SH ENVIRONMENT\n.TP\n.B RESMEM_ONNXRUNTIME\nthe library that runs models\n.TP\n.B RESMEM_SIMD\n'
    text += "the instruction set, if not the best that the processor has\n"
    return text + '.SH "SEE ALSO"\n' + ",\n".join(f".BR {roff(name)} (1)" for name in names) + "\n"


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", program.stat().st_mtime))
    date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d")
    overview = run(program)
    version = re.match(r"resmem (\S+):", overview)[1]
    commands = command_names(overview)
    pages = [command_page(command, run(program, *command.split(), "--help"), date, version) for command in commands]
    for name, text in [("resmem", main_page(overview, commands, date, version)), *pages]:
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
