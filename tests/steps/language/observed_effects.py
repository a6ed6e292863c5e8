"""Observes the effects of each op of a table: a script for any Python that can import T.

It reads the engine's description on stdin and writes {op: {"ran", "died", "effects",
"all_raised"}} to stdout. An op runs with each of its values, after the plainest lines that make its
variables. If it always raises, it runs after the lines before it in a seed, which the description
gives as `seeds` of the op. If it shows fewer effects than its row declares, a line of another op
runs before it.
"""

import itertools
import json
import os
import sys

from watched_lines import BINDING, Bench, keys_of

VALUES_MAX, SETUPS_MAX, FURTHER_MAX = 12, 6, 100


class Observer(Bench):
    """Finds programs for each op, and runs them."""

    def observe(self, op):
        """The effects of OP, and whether all its runs raised; None without a set-up for it."""
        base = self._base(op)
        if base is None:
            return None
        setup = base
        shown = self._shown(base, op)
        if shown is None:
            return None
        if shown["all_raised"]:
            found = next((one for one in self._seeds(op)
                          if not (self._shown(one, op) or {"all_raised": True})["all_raised"]),
                         None)
            shown = self._shown(found, op) if found else shown
            setup = found or base
        effects = set(shown["effects"])
        if op["operands"][:1] == ["t"]:
            name = setup["reads"][0]
            spied = {**setup, "lines": [*setup["lines"], f"{name} = {name}.as_subclass(Spy)"]}
            effects |= {"sets_attribute"} & (self._shown(spied, op) or shown)["effects"]
        missing = set(op["effects"]) - effects
        if missing:
            others = itertools.islice(self._further(setup, op), FURTHER_MAX)
            for one in itertools.chain([base], self._seeds(op), others):
                further = self._shown(one, op)
                if further:
                    effects |= missing & further["effects"]
                if missing <= effects:
                    break
        return {"effects": sorted(effects), "all_raised": shown["all_raised"]}

    def _shown(self, setup, op):
        """The effects of OP after SETUP, with each of its values, minus those of SETUP alone."""
        lines = list(itertools.islice(self._lines(setup, op), VALUES_MAX))
        nothing = {"code": "pass", "words": [], "variables": []}
        alone = self.run(setup["lines"], {**op, "operands": [], "attribute": ""}, nothing)
        runs = [self.run(setup["lines"], op, line) for line in lines]
        if alone is None or None in runs or not runs:
            return None
        effects = set()
        for line, seen in zip(lines, runs):
            if "starts_thread" in seen.effects:
                # The first line that uses a device starts its thread, whichever row it is of.
                again = self.run(setup["lines"], op, line)
                if again and "starts_thread" not in again.effects:
                    seen.effects.discard("starts_thread")
            effects |= seen.effects
            if seen.finalizers > alone.finalizers:
                effects.add("finalizes")
            if seen.kept > alone.kept:
                effects.add("resurrects")
        if any(seen.raised for seen in runs):
            effects.add("raises")
        if "checks" in effects:
            effects.discard("takes_resurrected")  # of its own objects
        elif {"in_hermetic", "enters_hermetic"} & effects or any(one.may_dangle for one in runs):
            effects.add("dangles")
        if "swaps" in effects:
            effects.discard("sets_attribute")  # they are exchanged with all else
        return {"effects": effects, "all_raised": all(seen.raised for seen in runs)}

    def _seeds(self, op):
        """The set-ups of OP in seeds. A line that binds takes the last variable of its kind."""
        last = {key: kind["count"] - 1 for key, kind in self.kinds.items() if kind["prefix"]}
        for one in op.get("seeds", ()):
            yield {**one, "free": last}

    def _base(self, op):
        """The plainest lines that make the variables that OP reads."""
        setup = {"lines": [], "free": {}, "reads": []}
        for word in op["operands"]:
            key = word.lstrip("-" + BINDING)
            if word[0] in BINDING or not self._is_variable(key):
                continue
            name = self._made(setup, "s" if key == "?" else key)
            if name is None:
                return None
            setup["reads"].append(name)
        return setup

    def _is_variable(self, key):
        return key == "?" or bool(self.kinds[key]["prefix"])

    def _fresh(self, setup, key):
        kind = self.kinds[key]
        number = setup["free"].get(key, 0)
        setup["free"][key] = number + 1
        return f"{kind['prefix']}{min(number, kind['count'] - 1)}"

    def _made(self, setup, key, depth=0):
        """Adds lines to SETUP that make a variable of a kind; returns its name."""
        for mark in "+*=":
            for name in self.ops:
                maker = self.ops[name]
                if (name not in self.usable or maker["operands"][:1] != [mark + key]
                        or "raises" in maker["effects"] or depth > 2):
                    continue
                words = []
                for word in maker["operands"][1:]:
                    of = word.lstrip("-" + BINDING)
                    one = (self._made(setup, of, depth + 1) if self._is_variable(of)
                           else self.kinds[of]["values"][0])
                    words.append(one)
                if None in words:
                    continue
                made = self._fresh(setup, key)
                setup["lines"].append(maker["template"].format(made, *words))
                return made
        return None

    def _lines(self, setup, op):
        """Instances of OP on the variables of SETUP, with all values."""
        reads, choices = iter(setup["reads"]), []
        free = {"free": dict(setup["free"])}
        for word in op["operands"]:
            key = word.lstrip("-" + BINDING)
            if not self._is_variable(key):
                choices.append(self.kinds[key]["values"])
            elif word[0] in BINDING:
                choices.append([self._fresh(free, key)])
            else:
                choices.append([next(reads)])
        for words in itertools.product(*choices):
            yield self._line(op, words)

    def _line(self, op, words):
        code = op["template"].format(*words)
        variables = [word for word, role in zip(words, op["operands"])
                     if role[0] not in BINDING and self._is_variable(role.lstrip("-"))]
        return {"code": code, "words": list(words), "variables": variables}

    def _further(self, setup, op):
        """SETUP with a line of another op added, then also with that line's variable dropped."""
        wanted = set(keys_of(op))
        others = [self.ops[name] for name in self.ops if name in self.usable and name != op["name"]]
        slow = op["slow"]
        others = [one for one in others if slow or not one["slow"]]
        others.sort(key=lambda one: wanted.isdisjoint(keys_of(one)))
        for other in others:
            for binds_read in (False, True):
                for line, bound, read, free in self._instances(setup, other, binds_read):
                    lines = [*setup["lines"], line]
                    yield {**setup, "lines": lines, "free": free}
                    for name in (bound, read):
                        if name and not binds_read:
                            yield {**setup, "lines": [*lines, f"del {name}"], "free": free}

    def _instances(self, setup, other, binds_read):
        """Instances of OTHER on the variables of SETUP, or on variables made for it."""
        extra = {"lines": [], "free": dict(setup["free"])}
        choices, bound, read = [], None, None
        left = list(setup["reads"])
        for word in other["operands"]:
            key = word.lstrip("-" + BINDING)
            if not self._is_variable(key):
                choices.append(self.kinds[key]["values"][:SETUPS_MAX])
                continue
            prefix = self.kinds["s" if key == "?" else key]["prefix"]
            known = next((name for name in left if name[0] == prefix), None)
            if word[0] in BINDING:
                bound = known if binds_read else self._fresh(extra, key)
                if bound is None:
                    return
                choices.append([bound])
                continue
            if binds_read and known is None:
                known = next((name for name in setup["reads"] if name[0] == prefix), None)
            if known is None:
                known = self._made(extra, "s" if key == "?" else key)
            elif known in left and not binds_read:
                left.remove(known)
            if known is None:
                return
            read = read or known
            choices.append([known])
        if binds_read and bound is None:
            return
        for words in itertools.islice(itertools.product(*choices), SETUPS_MAX):
            line = "\n".join([*extra["lines"], other["template"].format(*words)])
            yield line, bound, read, extra["free"]


def in_child(function):
    """Whether a forked child that calls FUNCTION dies, and the result of FUNCTION if it does not.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with open(writer, "w", encoding="utf-8") as out:
            json.dump(function(), out)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as result:
        text = result.read()
    died = os.waitpid(child, 0)[1] != 0
    return died, None if died else json.loads(text)


def main():
    """Writes the effects to stdout. A row may crash PyTorch: there each runs in its own process."""
    description = json.load(sys.stdin)
    bench, crashes = Observer(description), description["module"] == "torch"

    def observed(name, op):
        return bench.observe(op) if name in bench.usable else None

    told = {}
    for name, op in bench.ops.items():
        died, seen = (in_child(lambda name=name, op=op: observed(name, op)) if crashes
                      else (False, observed(name, op)))
        told[name] = {"ran": seen is not None, "died": died,
                      **(seen or {"effects": [], "all_raised": False})}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
