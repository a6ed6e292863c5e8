check_meta_calls()
check_size_calls()
check_trace_calls()
check_fake_calls()
