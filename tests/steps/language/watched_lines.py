"""Runs one line of a program on a module T and observes its effects."""

import dis
import gc
import importlib
import sys
import weakref
from dataclasses import dataclass, field

from spies import Spans, processes, spy_on

HUGE = 1 << 40
BINDING = "=*+"
FILE = "prelude.py"
KEPT = ("resurrected", "leaked_self", "kept_by_finalizer")
# An object that a line fetches from these may be a wrapper without its impl.
MAY_DANGLE = ("resurrected", "leaked_self")
# Assertions of the prelude's lanes do not belong to the line.
LANE = "Lane."


@dataclass
class Seen:
    """The observed effects of one run of a line."""

    raised: bool = False
    effects: set[str] = field(default_factory=set)
    # Functions with an assert: those that were called, and those that reached one.
    asserting: set = field(default_factory=set)
    reached: set = field(default_factory=set)
    finalizers: int = 0
    kept: int = 0
    may_dangle: bool = False


class Interpreters:
    """Counts the uses of the module that runs code in other interpreters."""

    def __init__(self, module):
        self.module, self.uses = module, 0

    def __getattr__(self, name):
        self.uses += 1
        return getattr(self.module, name)


def keys_of(op):
    """The keys of the kinds of OP's operands."""
    return [word.lstrip("-" + BINDING) for word in op["operands"]]


class Bench:
    """Runs instances of the ops of DESCRIPTION on the module T and returns their effects."""

    def __init__(self, description):
        self.ops = {op["name"]: op for op in description["ops"]}
        self.kinds = {kind["key"]: kind for kind in description["kinds"]}
        module = description["module"]
        self.T = importlib.import_module(module)
        self.names = {"T": self.T, "gc": gc, "weakref": weakref}
        for snippet in description["prelude"]:
            if snippet["module"] in ("", module):
                try:
                    exec(compile(snippet["text"], FILE, "exec"), self.names)
                except (AttributeError, ImportError, OSError, RuntimeError, TypeError):
                    continue  # the engine masks what needs it
        self.interpreters = Interpreters(self.names.get("interpreters"))
        self.names["interpreters"] = self.interpreters
        self.collections = 0
        self.asserts = {}  # for each function that was called: the lines of its asserts
        gc.callbacks.append(self._count_collections)
        self.usable = {name for name, op in self.ops.items() if self._can(op["needs"])}
        self.lists = [one for one in self.names.values() if type(one) is list]
        self.kept_lists = [self.names[name] for name in KEPT]
        self.dangling_lists = [self.names[name] for name in MAY_DANGLE]
        self.names["Spy"], self.set_before = spy_on(self.T.Tensor)
        self.spans = Spans(self.names.get("hermetic"), self.is_hermetic)
        if "hermetic" in self.names:  # PyTorch 1.13 has no hermetic mode
            self.names["hermetic"] = self.spans
        gc.disable()
        gc.collect()
        gc.freeze()

    def _can(self, needs):
        try:
            return not needs or eval(needs, self.names) is not None
        except Exception:  # a subject may raise anything, and the engine ignores it too
            return False

    def _count_collections(self, phase, _):
        self.collections += phase == "start"

    def is_hermetic(self):
        """Whether this thread is in hermetic mode."""
        return self.names["in_hermetic"]()

    def mode_count(self):
        """How many fake modes this thread is in."""
        meta = getattr(self.T, "_meta", None)
        return meta.mode_count() if meta else 0

    def run(self, setup, op, line):
        """Runs SETUP and LINE, an instance of OP; None if the set-up raises."""
        try:
            for text in setup:
                exec(text, self.names)
            return self._watched(op, line)
        except Exception:
            return None
        finally:
            self._reset()

    def _watched(self, op, line):
        seen, names = Seen(), self.names
        operands = {}
        for text in line["variables"]:
            operands[text] = names.get(text)
        first = operands.get(line["words"][0]) if line["words"] else None
        storage = self._storage_of(first)
        attributes = [self._attributes(one, op["attribute"]) for one in (first, storage)]
        sizes = [(one, one.nbytes()) for one in self._storages(operands.values())]
        hermetic, collections, uses = self.is_hermetic(), self.collections, self.interpreters.uses
        modes = self.mode_count()
        self.set_before.clear()
        self.spans.was_on = False
        begun = processes()
        self._profile(seen, hermetic)
        try:
            exec(line["code"], names)
        except Exception:
            seen.raised = True
        finally:
            sys.setprofile(None)
            sys.settrace(None)
        if processes() > begun:
            seen.effects.add("starts_thread")
        if self.spans.was_on and not hermetic:
            seen.effects.add("in_hermetic")
        set_now = {name: old for (of, name), old in self.set_before.items() if of == id(first)}
        if op["attribute"] in set_now or any(
                getattr(first, name, None) is not old for name, old in set_now.items()):
            seen.effects.add("sets_attribute")
        after = self.is_hermetic()
        if after != hermetic:
            seen.effects.discard("in_hermetic")
            seen.effects.add("enters_hermetic" if after else "leaves_hermetic")
        if self.mode_count() != modes:
            seen.effects.add("enters_mode" if self.mode_count() > modes else "leaves_mode")
        if self.collections > collections:
            seen.effects.add("collects")
        if self.interpreters.uses > uses:
            seen.effects.add("enters_interpreter")
        for one, size in sizes:
            if one.nbytes() != size:
                seen.effects.add("grows" if one.nbytes() > size else "shrinks")
        for one, before in zip((first, storage), attributes):
            if self._attributes(one, op["attribute"]) != before:
                seen.effects.add("sets_attribute")
        for word, role in zip(line["words"], op["operands"]):
            if role[0] in BINDING and not seen.raised:
                self._look_at(names[word], seen)
        if any(self._is_huge(key) for key in keys_of(op)):
            seen.effects.add("exceeds_memory")
        del operands, first, storage, attributes, sizes
        self._profile(seen, None)
        try:
            self._drop()
        finally:
            sys.setprofile(None)
            sys.settrace(None)
        return seen

    def _profile(self, seen, hermetic):
        """Records calls in SEEN from now on. HERMETIC is missing at the end of the program."""
        sys.settrace(None if hermetic is None else self._tracer(seen))

        def profile(frame, event, argument):
            code = frame.f_code
            if hermetic is False and self.is_hermetic():
                seen.effects.add("in_hermetic")
            if event == "call" and code.co_filename == FILE:
                if code.co_name == "__del__":
                    seen.finalizers += 1
                if hermetic is None:
                    return
                if code.co_name == "lock":
                    seen.effects.add("locks")
                box = frame.f_locals.get("box") if code.co_name == "check_kept" else None
                if box:
                    is_storage = isinstance(box[0], self.T.UntypedStorage)
                    seen.effects.add("checks=storage" if is_storage else "checks=tensor")
            elif event == "c_call":
                owner = getattr(argument, "__self__", None)
                if any(owner is one for one in self.kept_lists):
                    seen.kept += argument.__name__ == "append"
                    if argument.__name__ == "pop" and hermetic is not None:
                        seen.effects.add("takes_resurrected")
                        seen.may_dangle |= any(owner is one for one in self.dangling_lists)
                elif argument.__name__ == "swap_tensors":
                    seen.effects.add("swaps")
            if event == "call" and code.co_name == "swap_tensors":
                seen.effects.add("swaps")
        sys.setprofile(profile)

    def _tracer(self, seen):
        """Records in SEEN that an assert is reached: a check that returns before checks nothing."""
        def lines(frame, _event, _argument):
            if frame.f_lineno in self.asserts[frame.f_code]:
                seen.reached.add(frame.f_code)
                if seen.reached == seen.asserting:
                    seen.effects.add("checks")
            return lines

        def calls(frame, _event, _argument):
            code = frame.f_code
            if code.co_filename != FILE or code.co_qualname.startswith(LANE):
                return None
            if code not in self.asserts:
                self.asserts[code] = {one.positions.lineno for one in dis.get_instructions(code)
                                      if one.opname == "LOAD_ASSERTION_ERROR"}
            if not self.asserts[code]:
                return None
            seen.asserting.add(code)
            seen.effects.discard("checks")
            return lines
        return calls

    def _look_at(self, value, seen):
        if isinstance(value, weakref.ref) and value.__callback__ is not None:
            seen.effects.add("calls_back")
        if type(value).__module__.startswith("slotcore_c10") and type(value).__name__ == "Owner":
            seen.effects.add("makes_owner")
        if isinstance(value, self.T.Tensor) and self._is_exotic(value):
            seen.effects.add("exotic")

    def _is_exotic(self, tensor):
        try:
            storage = tensor.untyped_storage()
            return hasattr(storage, "device") and storage.device.type != "cpu"
        except Exception:
            return True

    def _is_huge(self, key):
        values = self.kinds[key]["values"] if key in self.kinds else []
        return any(value[:1].isdigit() and abs(eval(value)) >= HUGE for value in values
                   if set(value) <= set("0123456789()<- "))

    def _storage_of(self, one):
        if not isinstance(one, self.T.Tensor):
            return None
        try:
            return one.untyped_storage()
        except Exception:
            return None

    def _storages(self, objects):
        for one in objects:
            storage = self._storage_of(one) if isinstance(one, self.T.Tensor) else one
            if isinstance(storage, self.T.UntypedStorage):
                yield storage

    def _attributes(self, one, declared):
        is_wrapper = isinstance(one, (self.T.Tensor, self.T.UntypedStorage))
        found = {name: id(value) for name, value in getattr(one, "__dict__", {}).items()
                 if is_wrapper}
        if declared and one is not None:
            found[declared] = id(getattr(one, declared, None))
        return found

    def _drop(self):
        for name in [name for name in self.names if len(name) == 2 and name[1].isdigit()]:
            del self.names[name]
        gc.collect()

    def _reset(self):
        while self.is_hermetic():
            self.names["exit_hermetic"]()
        if self.mode_count() > 0:
            self.names["leave_modes"]()
        self._drop()
        for one in self.lists:
            one.clear()
        gc.collect()
