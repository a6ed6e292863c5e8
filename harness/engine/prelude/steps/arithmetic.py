"""What lines about arithmetic may call: a function of two sizes, made of several steps.

The same function runs on symbols and on integers, so an integer is the model of a symbol.
"""

#: size_steps, sized: a function of two sizes: steps by name, one after the other
size_steps = {
    "nothing": lambda x, y, first: (x, y), "swapped": lambda x, y, first: (y, x),
    "plus": lambda x, y, first: (x + y, y), "minus": lambda x, y, first: (x - y, y),
    "times": lambda x, y, first: (x * y, y), "divided": lambda x, y, first: (x // y, y),
    "remainder": lambda x, y, first: (x % y, y), "negated": lambda x, y, first: (0 - x, y),
    "plus_one": lambda x, y, first: (x + 1, y), "minus_ten": lambda x, y, first: (x - 10, y),
    "doubled": lambda x, y, first: (2 * x, y), "halved": lambda x, y, first: (x // 2, y),
    "by_three": lambda x, y, first: (x % 3, y), "by_minus_two": lambda x, y, first: (x // -2, y),
    "larger": lambda x, y, first: (T.sym_max(x, y), y),
    "smaller": lambda x, y, first: (T.sym_min(x, y), y),
    "at_least_two": lambda x, y, first: (T.sym_max(x, 2), y),
    "at_most_five": lambda x, y, first: (T.sym_min(5, x), y),
    "is_low": lambda x, y, first: (x if x >= -2 else x + 7, y),
    "is_high": lambda x, y, first: (x if x < 20 else y, y),
    "is_zero": lambda x, y, first: (y if x == 0 else x, y),
    "is_larger": lambda x, y, first: (x - y if x > y else y - x, y),
    "is_equal": lambda x, y, first: (x + 3 if x == y else x, y),
    "is_even": lambda x, y, first: (x // 2 if x % 2 == 0 else 3 * x + 1, y),
    "is_integer": lambda x, y, first: (int(x) + y, y),
    "plus_first": lambda x, y, first: (x + first, y),
    "plus_third": lambda x, y, first: (x + first // 3, y),
    "minus_half": lambda x, y, first: (x - first // 2, y),
    "plus_rest": lambda x, y, first: (x + first % 3, y),
    "times_first": lambda x, y, first: (x * first, y),
    "first_if_larger": lambda x, y, first: (T.sym_max(x, first), y),
}
def sized(*names):
    def function(x, y):
        first = x
        for name in names:
            x, y = size_steps[name](x, y, first)
        return x
    return function

#: checked_size: the same of a number from data and a size, with a condition that may hold later
def checked_size(first, second, third):
    before, after = sized(first, second), sized(third)
    def function(number, size):
        x = before(number, size)
        T._check(x >= size)
        return after(x, size) > 2
    return function

#: check_extreme [slotcore]: symbols compute as integers do, or refuse what is too large (M11)
#> check_extreme: checks
import operator
extreme_steps = {
    "+": (operator.add, operator.add), "-": (operator.sub, operator.sub),
    "*": (operator.mul, operator.mul), "//": (operator.floordiv, operator.floordiv),
    "%": (operator.mod, operator.mod), "max": (max, T.sym_max), "min": (min, T.sym_min),
    "<": (operator.lt, operator.lt), "==": (operator.eq, operator.eq),
}
def check_extreme(name, *values):
    on_integers, on_symbols = extreme_steps[name]
    try:
        expected = on_integers(*values)
    except ZeroDivisionError as error:
        expected = type(error)
    for kinds in ((True, True), (True, False), (False, True)):
        env = ShapeEnv()
        try:
            found = on_symbols(*[size_of(env, 1, "dynamic") * value if is_symbol else value
                                 for value, is_symbol in zip(values, kinds)])
            found = bool(found) if type(expected) is bool else getattr(found, "hint", found)
        except ZeroDivisionError as error:
            found = type(error)
        except RuntimeError:
            continue  # it does not fit
        assert found == expected, f"M11: {name} of {values} is {found}, and of integers {expected}"
