check_number('s[n:]', 'empties', 3)
check_number('narrow(0, 0, n)', 'sets', 0)
