check_sound(sized('negated', 'minus_ten', 'divided', 'is_low'), 2, 20)
check_unbacked(checked_size('plus', 'nothing', 'larger'), 4)
check_cached('clone')
check_extreme('%', -2 ** 63, -1)
