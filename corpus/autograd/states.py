check_state('turned', 'record_nothing', 'add', 'record', 'multiply_by_other')
check_state('retain', 'whole', 'add_other', 'run', 'square')
check_state('product', 'other', 'detach', 'put_other', 'run')
