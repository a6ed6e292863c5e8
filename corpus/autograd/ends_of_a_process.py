check_ends('graph', 'finalizer')
check_ends('hermetic_mode', 'preserved')
