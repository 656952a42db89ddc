"""Makes notebooks/*.ipynb from the scripts beside this file.

    python3 make_notebooks.py [FOLDER]

A line `# %%` begins a cell, `# %% [markdown]` one of text."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("first", "own_policy", "conversions", "paper_figure", "bandit_log")


def cells(text):
    for part in re.split(r"^# %%", text, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        body = body.strip("\n")
        if "[markdown]" in head:
            yield "markdown", re.sub(r"^# ?", "", body, flags=re.M)
        else:
            yield "code", body


def notebook(text):
    made = []
    for number, (kind, body) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": "cell-%d" % number, "metadata": {},
                "source": body.splitlines(keepends=True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    return {"cells": made, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python",
                       "name": "python3"},
        "language_info": {"name": "python"}},
        "nbformat": 4, "nbformat_minor": 5}


def main(folder=os.path.join(HERE, "notebooks")):
    os.makedirs(folder, exist_ok=True)
    for name in SCRIPTS:
        with open(os.path.join(HERE, name + ".py")) as file:
            made = notebook(file.read())
        with open(os.path.join(folder, name + ".ipynb"), "w") as file:
            json.dump(made, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
