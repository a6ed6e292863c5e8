check_aside('describe', 'leaf', 'view_of_a_function', 'times_in_place', 'flat')
check_aside('compute', 'integers', 'nothing', 'by_true', 'by_one_float')
