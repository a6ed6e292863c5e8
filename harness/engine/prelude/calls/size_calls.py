"""What calls give that are about symbolic sizes."""

#: calls_of_symbolic_sizes: expressions, decisions and guards
calls_of_symbolic_sizes = """
E = T.fx.experimental.symbolic_shapes.ShapeEnv
e = E()
a, b = e.create_symint(7, 'x', 'dynamic'), e.create_symint(5, 'y', kind='dynamic')
str(b + a), a - a, str(a + b - a), str((a + b) * (a - b)) -> 's0 + s1', 0, 's1', 's0*s0 + -1*s1*s1'
str(2 * a + 3 + a), str((4 * a + b + 5) // 2) -> '3*s0 + 3', '2*s0 + ((s1 + 1) // (2)) + 2'
str((4 * a + 6) // 2) -> '2*s0 + 3'
str((4 * a + b) % 4), (4 * a + 7) % 4, str(-1 * a // -1) -> '((s1) % (4))', 3, 's0'
str(3 - a) -> '-1*s0 + 3'
(a + b).hint, (a * b).hint, (a // 2).hint, (a % 4).hint, (a - 9).hint -> 12, 35, 3, 3, -2
(-1 * a // 2).hint -> -4
type(a) is T.SymInt, a.shape_env is e, e.guards -> True, True, []
e.inputs, e.frozen -> [('x', 's0'), ('y', 's1')], False
bool(a > b), bool(a > b), e.guards -> True, True, ['s0 + -1*s1 + -1 >= 0']
[bool(c) for c in (a >= 0, a < 0, a + b >= 0, a != -1, a == -1)] -> [True, False, True, True, False]
len(e.guards) -> 1
[bool(c) for c in (a > 3, a > 2, a != 1, a >= 4)], len(e.guards) -> [True, True, True, True], 2
bool(a % 4 < 4), bool(a // 2 >= 2), bool(a), len(e.guards) -> True, True, True, 2
type(a > 1) is T.SymBool, str(a > 1), str(a == b) -> True, 's0 + -2 >= 0', 's0 + -1*s1 == 0'
a - a == 0, a - a > 1, a < a + 1 -> True, False, True
str(T.sym_max(a, b)), str(T.sym_max(b, a)) -> 'max(s0, s1)', 'max(s0, s1)'
str(T.sym_max(a, a + 1)) -> 's0 + 1'
T.sym_max(a, b).hint, T.sym_min(a, b).hint, T.sym_max(2, 5), T.sym_min(2, 5) -> 7, 5, 5, 2
len(e.guards) -> 2
T.sym_max(a, 1.5) -> TypeError
e.check([7, 5]), e.check([9, 0]), e.check([3, 0]), e.check([7, 7]) -> True, True, False, False
int(b), bool(b == 5), [*range(10)][b], e.check([7, 4]), e.check((7, 5)) -> 5, True, 5, False, True
e = E()
a, b = e.create_symint(7, 'x', 'dynamic'), e.create_symint(2, 'y', 'dynamic')
str(a // b), str(10 % b), e.guards -> '((s0) // (s1))', '((10) % (s1))', ['s1 != 0']
e.check([7, 0]) -> False
[bool(c) for c in (b < 2, b <= 2, b > 2)] -> [False, True, False]
[bool(c) for c in (b >= 2, b == 2, b != 2)] -> [True, True, False]
a // 0 -> ZeroDivisionError
a % 0 -> ZeroDivisionError
a + 1.5 -> TypeError
1.5 < a -> TypeError
hash(a) -> TypeError
type(a)() -> TypeError
a + E().create_symint(3, 'z', 'dynamic') -> ValueError
a * (1 << 62) * 4 -> RuntimeError
a + (1 << 70) -> OverflowError
e = E()
s = [e.create_symint(5, '0', 'duck'), e.create_symint(5, '1'), e.create_symint(5, '2', 'dynamic')]
[str(o) for o in s], str(e.create_symint(1, '3')) -> ['s0', 's0', 's1'], '1'
e.create_symint(0, '4') -> 0
e.create_symint(6, '5', 'static'), str(e.create_symint(1, '6', 'dynamic')) -> 6, 's2'
str(e.create_symint(6, '7')) -> 's3'
e.check([5, 5, 5, 1, 0, 6, 1, 6]), e.check([9, 9, 2, 1, 0, 6, 0, 2]), e.guards -> True, True, []
e.check([6, 5, 5, 1, 0, 6, 1, 6]), e.check([5, 5, 5, 0, 0, 6, 1, 6]) -> False, False
e.check([5, 5, 5, 1, 0, 7, 1, 6]) -> False
e.check([5, 5, 5, 1, 1, 6, 1, 6]), e.check([1, 1, 5, 1, 0, 6, 1, 6]) -> False, False
e.check([5, 5, 5, 1, 0, 6, 1, 1]) -> False
e.check([1, 2]) -> ValueError
e.check(3) -> TypeError
e.create_symint(-1, 'x') -> ValueError
e.create_symint(3, '0') -> ValueError
e.create_symint(3, '') -> ValueError
e.create_symint(3, 'a\\nb') -> ValueError
e.create_symint(3, 'x', 'other') -> ValueError
e.create_symint('x', 'y') -> TypeError
e.create_symint(3) -> TypeError
E(3) -> TypeError
"""

#: calls_of_environments: frozen ones, and their texts
calls_of_environments = """
E = T.fx.experimental.symbolic_shapes.ShapeEnv
e = E()
a, b = e.create_symint(7, 'x', 'dynamic'), e.create_symint(5, 'y')
[bool(c) for c in (a * b > 30, a % 2 == 1, b != 4, a // 3 <= b)] -> [True, True, True, True]
w = T._meta.dumps_env(e)
w.split(chr(10))[:3] -> ['slotfuzz-shape-env 1', 'symbol 7 0 dynamic', 'symbol 5 2 duck']
w.split(chr(10))[3:5] -> ['input s0 x', 'input s1 y']
w.split(chr(10))[5:7] -> ['guard s0*s1 + -31 >= 0', 'guard ((s0) % (2)) + -1 == 0']
r = T._meta.loads_env(w)
T._meta.dumps_env(r) == w, r is e, r.guards == e.guards -> True, False, True
r.inputs == e.inputs, r.frozen -> True, False
r.check([7, 5]), r.check([8, 5]), r.check([3, 5]), r.check([7, 4]) -> True, False, False, False
e.freeze()
[bool(c) for c in (a >= 0, b + 1 > 2, a * b > 30, a % 2 == 1)] -> [True, True, True, True]
e.frozen -> True
bool(a > 2) -> RuntimeError
bool(a > 6) -> RuntimeError
int(a) -> RuntimeError
bool(a == 7) -> RuntimeError
e.create_symint(3, 'late') -> RuntimeError
T._meta.dumps_env(e) == w + 'frozen' + chr(10) -> True
T._meta.loads_env(w + 'frozen' + chr(10)).frozen -> True
def again(old, new): return T._meta.loads_env(w.replace(old, new))
again('env 1', 'env 2') -> ValueError
again('symbol 7', 'symbol -1') -> ValueError
again('symbol 5 2', 'symbol 1 2') -> ValueError
again('symbol 5 2', 'symbol 5 3') -> ValueError
again('input s1 y', 'input s2 y') -> ValueError
again('input s1 y', 'input s1 x') -> ValueError
again('input s1 y', 'input s1 ') -> ValueError
again('-31 >= 0', '-36 >= 0') -> ValueError
again('-31 >= 0', '-31 >= 1') -> ValueError
again('% (2)', '% (0)') -> ValueError
again('guard s0*s1', 'guard s1*s0') -> ValueError
again('guard', 'guart') -> ValueError
again(chr(10), '') -> ValueError
again('symbol 5 2 duck', 'symbol 5 2 duck' + chr(10) + 'symbol 5 2 duck') -> ValueError
e = E()
e.create_symint(5, 'x', 'dynamic') is None, e.create_symint(5, 'y') is None -> False, False
T._meta.loads_env(T._meta.dumps_env(e)).inputs -> [('x', 's0'), ('y', 's1')]
T._meta.loads_env('') -> ValueError
T._meta.loads_env(b'') -> TypeError
T._meta.dumps_env(a) -> TypeError
e, t = T.fx.experimental.symbolic_shapes.ShapeEnv(), T.ones(3)
m = T._subclasses.FakeTensorMode(shape_env=e)
f, p = m.from_tensor(t), m.from_tensor(t, static_shapes=True)
f is p, type(f.shape[0]) is int, type(p.shape[0]) is int -> False, False, True
m.from_tensor(t, static_shapes=True) is p, type(m.from_tensor(t).shape[0]) is int -> True, False
"""

#: calls_of_numbers_from_data: unbacked symbols, and what is asserted of them
calls_of_numbers_from_data = """
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
u, a = e.create_unbacked_symint(), e.create_symint(7, 'x', 'dynamic')
str(u), str(u + a), str(u > 2) -> 'u0', 's1 + u0', 'u0 + -3 >= 0'
bool(u > 3) -> RuntimeError
int(u) -> RuntimeError
u.hint -> RuntimeError
a // u -> RuntimeError
e.guards, e.deferred_runtime_asserts, e.replacements -> [], [], {}
T._check(u >= 2), T._check(u <= 9), T._check(u >= 1) -> None, None, None
e.deferred_runtime_asserts -> ['u0 + -2 >= 0', '-1*u0 + 9 >= 0']
bool(u > 1), bool(u == 0), bool(u < 10), str(a // u) -> True, False, True, '((s1) // (u0))'
bool(u > 5) -> RuntimeError
T._check(u > 9) -> RuntimeError
T._check(u - u > 0) -> RuntimeError
T._check(a > 3), e.guards -> None, ['s1 + -4 >= 0']
e.check([7]), e.check([3]), e.check([7], [2]), e.check([7], [1]) -> True, False, True, False
e.check([7], []) -> ValueError
T._check(u == a - 3), e.replacements, u.hint, str(u * 2) -> None, {'u0': 's1 + -3'}, 4, '2*s1 + -6'
bool(u == 4), e.replacements, u + 0 -> True, {'u0': '4', 's1': '7'}, 4
r = T._meta.loads_env(T._meta.dumps_env(e))
r.deferred_runtime_asserts == e.deferred_runtime_asserts, r.guards == e.guards -> True, True
r.replacements == e.replacements, r.check([7], [4]), r.check([7], [5]) -> True, True, False
r.freeze()
r.create_unbacked_symint() -> RuntimeError
f = T.fx.experimental.symbolic_shapes.ShapeEnv()
w = f.create_unbacked_symint()
f.freeze()
T._check(w >= 3) -> RuntimeError
T._check(True) -> None
T._check(False) -> RuntimeError
T._check(1) -> TypeError
g = T.fx.experimental.symbolic_shapes.ShapeEnv()
b, v = g.create_symint(6, 'y', 'dynamic'), g.create_unbacked_symint()
T._check(v >= 0), T._check(b == v * 2), b.hint, bool(b > 3), int(b) -> None, None, 6, True, 6
str(v), g.check([6], [3]), g.check([6], [4]), g.check([4], [2]) -> 'u1', True, False, False
"""

#: calls_of_size_rules: which symbol is replaced, ranges, and the limits of expressions
calls_of_size_rules = """
E = T.fx.experimental.symbolic_shapes.ShapeEnv
e = E()
def sizes(*hints): return [e.create_symint(n, str(len(e.inputs)), 'dynamic') for n in hints]
a, b = sizes(5, 5)
u, v = e.create_unbacked_symint(), e.create_unbacked_symint()
bool(a == b), e.replacements -> True, {'s1': 's0'}
T._check(u == v), e.replacements -> None, {'s1': 's0', 'u3': 'u2'}
e = E()
a, b, c = sizes(7, 5, 3)
o = [a % b, b % a, a // b, b // a, T.sym_max(a, b), T.sym_min(b, a), T.sym_max(c, b) % a]
o += [a * (b % c), T.sym_max(a, b * b), a % (b // c), a // (b % c), (a * b) % (a * c)]
h = [one.hint for one in o]
h -> [2, 5, 1, 0, 7, 5, 5, 14, 25, 0, 3, 14]
[bool(one == n) for one, n in ((c, a - 4), (b, a - 2))], len(e.replacements) -> [True, True], 2
[one.hint for one in o] == h, [(one + 0).hint for one in o] == h -> True, True
[str(one + 0) for one in o[:2]] -> ['((s0) % (s0 + -2))', '((s0 + -2) % (s0))']
[str(one + 0) for one in o[4:7]] -> ['s0', 's0 + -2', '((s0 + -2) % (s0))']
str(o[7] + 0), str(o[8] + 0) -> 's0*((s0 + -2) % (s0 + -4))', 'max(s0*s0 + -4*s0 + 4, s0)'
e.check([7, 5, 3]), e.check([8, 6, 4]), e.check([8, 5, 4]) -> True, True, False
e = E()
a, b, u = *sizes(0, 1), e.create_unbacked_symint()
T._check(u * 8 - a >= 0), T._check(u == b * (1 << 61)), e.replacements != {} -> None, None, True
e.deferred_runtime_asserts -> ['-1*s0 + 8*u2 >= 0', '-2305843009213693952*s1 + u2 == 0']
e = E()
a, u, w = *sizes(7), e.create_unbacked_symint(), e.create_unbacked_symint()
y = u + w
T._check(3 - u == 0), bool(u > 2), bool(u < 4), u + 0 -> None, True, True, 3
bool(9 - a == 2), bool(a > 6), bool(a < 8), len(e.guards), a + 0 -> True, True, True, 1, 7
e.check([7], [3, 0]), e.check([7], [-3, 0]), e.check([6], [3, 0]) -> True, False, False
T._check(2 - w >= 0), bool(w <= 2), bool(w > 2), bool(w < 4) -> None, True, False, True
bool(w < 2) -> RuntimeError
bool(y <= 0) -> RuntimeError
bool(y <= 5), bool(y > 5), T._check(-5 - w != 0), bool(w == -5) -> True, False, None, False
e = E()
a, b = *sizes(7), e.create_symint(2, 'b')
bool((-1 * a - 10) // b <= -5), e.check([0, 2]), e.check([0, 10]) -> True, True, False
bool(b // 2 < 1 << 61), bool(a * b < 1 << 62), len(e.guards) -> True, True, 3
bool((a + 3) % b < b), bool((a + b) // b >= 1) -> True, True
e.check([1 << 62, 2]), e.check([3, 1 << 62]) -> False, False
e = E()
a, b = sizes(7, 5)
bool(a * b > 30), e.check([1 << 62, 4]), e.check([1 << 40, 1 << 40]) -> True, False, False
e.check([1 << 64, 4]) -> OverflowError
e.check([7, 5], [1]) -> ValueError
u, v = e.create_unbacked_symint(), e.create_unbacked_symint()
T._check(u * v < 9), e.check([7, 5], [2, 3]), e.check([7, 5], [1 << 40] * 2) -> None, True, False
e.check([7, 5], [1]) -> ValueError
e.check([7, 5], [1, 2, 3]) -> ValueError
e.check([7, 5, 3]) -> ValueError
e = E()
a, b = sizes(7, 5)
bool(a != b), e.freeze() -> True, None
bool(b != a), bool(b == a) -> True, False
bool(a > b) -> RuntimeError
e = E()
a, b, z, u = *sizes(1, 2, 0), e.create_unbacked_symint()
str(a % b), e.guards, e.check([1, 0, 0]) -> '((s0) % (s1))', ['s1 != 0'], False
a % u -> RuntimeError
3 // u -> RuntimeError
a % z -> ZeroDivisionError
a // z -> ZeroDivisionError
e.guards[1:] -> ['s2 == 0']
p, q = a * a * a * a * a * a * a * a, a * a * a * a * b * b * b * b
p * a -> RuntimeError
(a * a * a) * p -> RuntimeError
q * (a + b) -> RuntimeError
q, r = a, a
for _ in range(6): q, r = T.sym_max(q * 2, b), b // (r + 1)
p.hint, q.hint, r.hint -> 1, 64, 1
T.sym_max(q * 2, b) -> RuntimeError
T.sym_min(b, q * 2) -> RuntimeError
b // (r + 1) -> RuntimeError
(r + 1) % b -> RuntimeError
s = a * 0
for one in sizes(*[3] * 64): s = s + a * one
s.hint, s + 1 -> RuntimeError
(s - a * one + b).hint -> 191
a = E().create_symint(7, 'x', 'dynamic')
a.shape_env is a.shape_env, (a + 1).shape_env is a.shape_env -> True, True
e = a.shape_env
a.shape_env is e, bool(a > 3), e.guards -> True, True, ['s0 + -4 >= 0']
m = T._subclasses.FakeTensorMode(shape_env=E())
m.shape_env is m.shape_env, m.from_tensor(T.ones(3)).size(0).shape_env is m.shape_env -> True, True
"""

#: calls_of_written_environments: texts that no environment has written
calls_of_written_environments = """
def env(*lines): return T._meta.loads_env(chr(10).join(('slotfuzz-shape-env 1', *lines, '')))
x, y, a, b = 'symbol 7 0 dynamic', 'symbol 5 2 duck', 'input s0 x', 'input s1 y'
n, u = 'symbol unbacked', 'assert u1 + -5 >= 0'
env(x, y, a, b).inputs -> [('x', 's0'), ('y', 's1')]
env(x, y, a, b, 'input s1 z').inputs[2] -> ('z', 's1')
env(x, y, a, b, 'input s0 z') -> ValueError
env(x, y, 'input s1 x', 'input s0 y') -> ValueError
env(y, 'symbol 6 2 duck', 'input s1 x', 'input s0 y') -> ValueError
env(x, y, a) -> ValueError
env(x, y) -> ValueError
env(x, n, a, u).deferred_runtime_asserts -> ['u1 + -5 >= 0']
env(n).inputs, env().inputs, env('input 3 z').inputs -> [], [], [('z', '3')]
env(x, x, a, b, 'guard s0 + -1*s1 == 0').replacements -> {'s1': 's0'}
env(x, x, a, b, 'guard s0 + -1*s1 == 0', 'guard s0 + -5 >= 0').guards[1] -> 's0 + -5 >= 0'
env(x, x, a, b, 'guard s0 + -1*s1 == 0', 'guard s1 + -5 >= 0') -> ValueError
env(x, a, 'guard s0 + -5 >= 0').guards -> ['s0 + -5 >= 0']
env(x, a, 'assert s0 + -5 >= 0') -> ValueError
env(x, n, a, 'guard u1 + -5 >= 0') -> ValueError
env(x, n, a, u, 'assert u1 + -4 >= 0') -> ValueError
env(x, n, a, u, 'assert -1*u1 + 4 >= 0') -> ValueError
env(x, a, 'guard s0 + -5 >= 0', 'guard s0 + -5 >= 0') -> ValueError
env(x, a, 'guard s0 + -5 >= 0', 'guard s0 + -4 >= 0') -> ValueError
env(x, a, 'guard s0 >= 0') -> ValueError
env(x, a, 'guard s0 + -9 >= 0') -> ValueError
env(x, a, 'guard s1 + -1 >= 0') -> ValueError
env(x, a, 'guard u0 + -1 >= 0') -> ValueError
env(x, 'input 2*s0 x') -> ValueError
env(x, a, 'input s0 + 1 z') -> ValueError
env(x, a, 'input s0*s0 z') -> ValueError
env(x, a, 'input -1*s0 z') -> ValueError
env(x, a, 'input -1 z') -> ValueError
env(x, n, 'input u1 z', a) -> ValueError
env(x, n, a, 'input u1 z') -> ValueError
env(x, a, 'frozen').frozen -> True
env(x, a, 'frozen', 'frozen') -> ValueError
env(x, a, 'frozen', 'input 3 z') -> ValueError
env(x, a, 'guard s0 + -5 >= 0', 'input 3 z') -> ValueError
env('input 3 z', x, a) -> ValueError
env('symbol 7 2 dynamic', a) -> ValueError
env('symbol 1 2 duck', a) -> ValueError
env('symbol 7 0 static', a) -> ValueError
env('symbol 7 0 dynamic ', a) -> ValueError
env(x, a, '') -> ValueError
"""

#: check_size_calls [slotcore]: the calls about symbolic sizes (M11, M5)
#> check_size_calls: checks
def check_size_calls():
    for number, text in (("M11", calls_of_symbolic_sizes), ("M5", calls_of_environments),
                         ("M11", calls_of_numbers_from_data), ("M11", calls_of_size_rules),
                         ("M5", calls_of_written_environments)):
        assert_calls(number, text)
