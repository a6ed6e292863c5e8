check_meta_calls()
check_size_calls()
