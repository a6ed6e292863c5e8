check_number('s[n:]', 3)
check_number('narrow(0, 0, n)', 0)
check_number('as_strided(n)', 3)
check_number('as_strided(l)', 3)
