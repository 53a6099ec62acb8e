# SPDX-License-Identifier: MIT
"""reference.py - the reference of the functions, in Markdown with the directives that Sphinx has for C, so that every name
can be linked to. The HTML manual has a page for each header."""

import re

import comment

FENCE = "`" * 6


def indent(text, first="  "):
    return "\n".join(first + line if line else line for line in text.split("\n")).lstrip()


def described(item):
    """The comment, with the parameters and results as lists."""
    parts = comment.parts(item)
    out = [parts.text] if parts.text else []
    fields = [f":param {name}: {text}" for name, text in parts.params]
    if len(parts.returns) == 1 and not parts.returns[0][0]:
        fields.append(f":returns: {parts.returns[0][1]}")
    elif parts.returns:
        values = [f"- `{value}`: {text}" if value and text else f"- `{value}`" if value else f"- {text}"
                  for value, text in parts.returns]
        fields.append(":returns:\n" + "\n".join("  " + value for value in values))
    if fields:
        out.append("\n".join(fields))
    if parts.notes:
        out.append(parts.notes)
    return "\n\n".join(out)


def directive(kind, signature, body, depth=0):
    fence = FENCE[depth:]
    return f"{fence}{{c:{kind}}} {signature}\n{body}\n{fence}"


def member(kind, each):
    """Members that share a declaration share its comment."""
    names = each.name.split(", ")
    if kind == "enum":
        return directive("enumerator", names[0], described(each.comment), 1)
    signature = each.declaration if len(names) == 1 else re.sub(r", .*", "", each.declaration)
    out = [directive("member", signature, described(each.comment), 1)]
    base = signature[:-len(names[0])]
    out += [directive("member", base + name, "", 1) for name in names[1:]]
    return "\n".join(out)


def item_of(item):
    body = described(item.comment)
    if item.kind == "function":
        return directive("function", item.declaration, body)
    if item.kind == "typedef":
        return directive("type", item.declaration, body)
    if item.kind == "macro":
        out = []
        for at, (name, value) in enumerate(item.macros):
            shown = f"`{value}`" if len(value) < 70 and "(" not in name and not value.startswith(("{", "HTW__")) else ""
            out.append(directive("macro", name, "\n\n".join(filter(None, [body if at == 0 else "", shown]))))
        return "\n\n".join(out)
    kind = item.kind
    members = "\n".join(member(kind, each) for each in item.members)
    return directive(kind, item.name, "\n\n".join(filter(None, [body, members])))


def contents(group):
    """What stands under the heading of a group."""
    return [comment.blocks(group.comment), *map(item_of, group.items)]


def page(header):
    """The page of a header."""
    out = [f"# {header.file}", comment.inline(header.summary[0].upper() + header.summary[1:]),
           comment.head(header.comment)]
    for group in header.groups:
        if group.title:
            out.append(f"## {group.title[0].upper()}{group.title[1:]}")
        elif len(header.groups) > 1:
            out.append("## Types and constants")
        out += contents(group)
    return "\n\n".join(filter(None, out)) + "\n"
