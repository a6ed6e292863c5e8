// The rows of check_table.h, in the order in which they run.
#include "harness/engine/judge/check_table.h"

#include <algorithm>

#include "harness/engine/judge/checks.h"

namespace slotfuzz {
namespace {

// Lines that raise what says that a promise is broken: an assert of the prelude, another exception
// of a check, or an op that makes an object from values alone.
std::vector<PlantedProgram> planted_exceptions() {
  return {{"exception", "",
           "t0 = T.ones(1)\n!def check_wraps(t): assert False, 'P7: planted'\ncheck_wraps(t0)",
           "P7 check_wraps"},
          {"check-raises", "",
           "t0 = T.ones(1)\n!def check_freed(t): raise LookupError('planted')\ncheck_freed(t0)",
           "check_freed: LookupError: planted"},
          {"maker-raises", "",
           "t0 = T.ones(1)\n!def ones(*sizes): raise TypeError('planted')\n!T.ones = ones\n"
           "t1 = T.ones(1)",
           "ones: TypeError: planted"},
          {"wrong-byte-set", "",
           "v0 = MetaConverter()\nt0 = T.ones(1)\nt1 = t0.view(-1)\n!made = MetaConverter\n"
           "!MetaConverter = lambda: lambda tensor: made()(tensor)\ncheck_shared(v0, t0, t1)",
           "M2 check_shared"},
          {"kept-fake", "",
           "v0 = MetaConverter()\n!kept, inner, sizes_of = [], v0, T._meta.memo_sizes\n"
           "!class Keeps: __call__ = lambda self, t: kept.append(inner(t)) or kept[-1]\n"
           "!Keeps.describer, Keeps.sweep = inner.describer, lambda self: inner.sweep()\n"
           "!T._meta.memo_sizes = lambda converter: sizes_of(inner)\n!v0 = Keeps()\n"
           "check_forgets(v0)",
           "M8 check_forgets"},
          {"unsound-guard", "",
           "z0 = ShapeEnv()\n!made = ShapeEnv\n"
           "!class Loose: __init__ = lambda self: setattr(self, 'env', made())\n"
           "!Loose.__getattr__ = lambda self, name: getattr(self.env, name)\n"
           "!Loose.check = lambda self, sizes: True\n!ShapeEnv = Loose\n"
           "check_guards(lambda a, b: a + b > 5, 4, 0)",
           "M11 check_guards"},
          {"address-in-text", "",
           "t0 = T.ones(1)\n!kept, dumps = [], T._meta.dumps\n"
           "!place = lambda one: '\"nbytes\":%d' % (kept.append(one) or id(one))\n"
           "!T._meta.dumps = lambda one: dumps(one).replace('\"nbytes\":4', place(one))\n"
           "check_text(t0, t0)",
           "M12 check_text"},
          {"text-misread", "",
           "t0 = T.ones(1)\n!loads = T._meta.loads\n"
           "!wrong = lambda text: loads(text.replace('\"nbytes\":4', '\"nbytes\":8'))\n"
           "!T._meta.loads = wrong\ncheck_other_process(t0, t0)",
           "M13 check_other_process"},
          {"wrong-shape-rule", "",
           "t0 = T.ones(1)\n!right = check_propagates\n"
           "!copied = lambda a: a.clone() if a.device.type == 'cpu' else a.view(-1)\n"
           "!check_propagates = lambda function, tensor: right(copied, tensor)\n"
           "check_propagates(lambda a: a.view(-1), t0)",
           "M15 check_propagates"},
          {"write-not-traced", "",
           "t0 = T.ones(1)\n!right = traced\n"
           "!traced = lambda function, tensor, kind: right(lambda a: a.view(-1), tensor, kind)\n"
           "check_graph(lambda a: a.view(-1).add_(1), t0)",
           "M11 check_graph"}};
}

std::vector<Check> checks_of_modes() {
  return {
      {"H1",
       "exit_hermetic",
       "a thread cannot leave the mode that it has entered",
       {Stage::kRaised},
       &Checks::exit_hermetic,
       {{"exit-hermetic", "",
         "enter_hermetic()\n!def exit_hermetic(): raise RuntimeError('planted')\n"
         "exit_hermetic()",
         "H1 exit_hermetic: RuntimeError: planted"}}},
      {"",
       "",
       "a line raised what says that an invariant does not hold",
       {Stage::kRaised},
       &Checks::exception,
       planted_exceptions()},
      {"H1",
       "fresh",
       "wrapping in hermetic mode gave a wrapper that exists already",
       {Stage::kAsked},
       &Checks::fresh,
       {{"hermetic-wrap", "",
         "t0 = T.ones(1)\ns0 = t0.untyped_storage()\nenter_hermetic()\n!exit_hermetic()\n"
         "s1 = t0.untyped_storage()\n!enter_hermetic()"}}},
      {"H1",
       "base class",
       "wrapping in hermetic mode gave a wrapper of a subclass",
       {Stage::kAsked},
       &Checks::base_class,
       {{"hermetic-type", "",
         "s0 = Sub(1)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\ndel s0\nenter_hermetic()\n"
         "!exit_hermetic()\ns1 = t0.untyped_storage()\n!enter_hermetic()"}}},
  };
}

std::vector<Check> checks_of_wrappers() {
  return {
      {"P1",
       "identity",
       "two wrappers of one impl",
       {Stage::kMet},
       &Checks::identity,
       {{"identity", "",
         "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n!enter_hermetic()\n"
         "s1 = t0.untyped_storage()\n!exit_hermetic()"},
        {"tensor-identity", "tensor ",
         "t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\n!enter_hermetic()\nt2 = t0.grad\n"
         "!exit_hermetic()"}}},
      {"P2",
       "type",
       "the wrapper came back as another type",
       {Stage::kMet},
       &Checks::type,
       {{"type", "",
         "s0 = Sub(1)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\n!s0.__class__ = T.UntypedStorage\n"
         "s1 = t0.untyped_storage()"}}},
      {"P2",
       "attributes",
       "the wrapper came back without an attribute that it had",
       {Stage::kMet},
       &Checks::attributes,
       {{"attributes", "",
         "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\n!del s0.tag\n"
         "s1 = t0.untyped_storage()"},
        {"tensor-attributes", "tensor ",
         "t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.tag = 7\n!del t1.tag\nt2 = t0.grad"}}},
  };
}

std::vector<Check> checks_of_lives() {
  return {
      {"P3",
       "finalized twice",
       "__del__ of one object ran twice",
       {Stage::kFinalized},
       &Checks::finalized_twice,
       {{"finalized-twice", "", "s0 = Finalized(1)\ndel s0\n!finalized.append(0)\ngc.collect()"}}},
      {"P3",
       "finalized early",
       "__del__ ran while the impl was owned",
       {Stage::kFinalized},
       &Checks::finalized_early,
       {{"finalized-early", "", "s0 = Finalized(1)\n!finalized.append(0)\ns0.nbytes()"}},
       "",
       {Effect::kFinalizes}},
      {"P4",
       "weakref",
       "a weak reference died while the impl lives",
       {Stage::kDied},
       &Checks::weakref,
       {{"weakref", "",
         "s0 = T.UntypedStorage(1)\nr0 = weakref.ref(s0)\n"
         "!import ctypes; ctypes.pythonapi._PyWeakref_ClearRef(ctypes.py_object(r0))\n"
         "s0.nbytes()"}}},
      {"P7",
       "use count",
       "the use count is below the number of owners",
       {Stage::kLine},
       &Checks::use_count,
       {{"use-count", "",
         "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
         "!import ctypes; ctypes.c_uint32.from_address(s0._cdata + use_count_offset).value = 0\n"
         "s0.nbytes()"}}},
  };
}

std::vector<Check> checks_of_the_reset() {
  return {
      {"",
       "",
       "a step of the reset raised",
       {Stage::kReset},
       &Checks::reset,
       {},
       "only a subject whose own deallocation or traversal raises makes a step fail"},
      {"H1",
       "hermetic mode",
       "the thread is still in hermetic mode",
       {Stage::kReset},
       &Checks::hermetic_mode,
       {{"hermetic-left", "", "t0 = T.ones(1)\n!enter_hermetic()"}}},
      {"A5e",
       "recording",
       "the thread no longer records what it recorded at the start",
       {Stage::kReset},
       &Checks::recording,
       {{"mode-left", "", "t0 = T.ones(1)\n!T.set_grad_enabled(False)"}}},
  };
}

std::vector<Check> checks_of_the_end() {
  return {
      {"P3",
       "unraisable",
       "an exception in __del__ or in a callback, which nobody can catch",
       {Stage::kLine, Stage::kReset},
       &Checks::unraisable,
       {{"unraisable", "",
         "t0 = T.ones(1)\n!type('X', (), {'__del__': lambda self: 1 / 0})()\ngc.collect()",
         "P3 unraisable"}}},
      {"",
       "gc.collect",
       "a collection raised",
       {Stage::kLedger},
       &Checks::collection,
       {},
       "only a subject whose own traversal raises makes a collection fail"},
      {"P5",
       "live counts",
       "the subject cannot say what lives",
       {Stage::kLedger},
       &Checks::live_counts,
       {},
       "only a subject whose own function raises gives no number"},
      {"P5",
       "live",
       "something lives on that nothing owns",
       {Stage::kLedger},
       &Checks::left,
       {{"ledger", "", "s0 = T.UntypedStorage(1)\n!leak = s0", "P5 live impls"},
        {"ledger-beside-cpp", "",
         "t0 = T.ones(1).requires_grad_()\nt1 = t0.relu()\nn0 = t1.grad_fn\n"
         "n0.metadata['held'] = t1\n"
         "!import ctypes; "
         "ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(n0.metadata))",
         "P5 live impls"}}},
      {"P3",
       "never finalized",
       "__del__ did not run though nothing owns the object",
       {Stage::kEnd},
       &Checks::never_finalized,
       {{"never-finalized", "", "s0 = Finalized(1)\n!born.append(1)"}}},
      {"P4",
       "weakref alive",
       "a weak reference gives a wrapper that nothing owns",
       {Stage::kEnd},
       &Checks::weakref_alive,
       {{"weakref-alive", "",
         "s0 = T.UntypedStorage(1)\n"
         "!import types, weakref as w; weakref = types.SimpleNamespace(ref=lambda s: w.ref(gc))\n"
         "r0 = weakref.ref(s0)"}}},
  };
}

const std::vector<Check>& table() {
  static const std::vector<Check> all = [] {
    std::vector<Check> checks;
    for (const auto& part : {checks_of_modes(), checks_of_wrappers(), checks_of_lives(),
                             checks_of_the_reset(), checks_of_the_end()}) {
      checks.insert(checks.end(), part.begin(), part.end());
    }
    return checks;
  }();
  return all;
}

}  // namespace

bool Check::runs_at(Stage stage) const {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

std::string Check::expected(const PlantedProgram& program) const {
  if (!program.expect.empty()) return std::string(program.expect);
  std::string words(contract);
  return words.append(" ").append(program.prefix).append(name).append(": ").append(text);
}

std::span<const Check> check_table() { return table(); }

}  // namespace slotfuzz
