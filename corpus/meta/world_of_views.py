check_world('turned', 'plus_one', 'set', 'grad', 'relu_in_place')
check_world('integers', 'by_two', 'by_half', 'part_written', 'nothing')
