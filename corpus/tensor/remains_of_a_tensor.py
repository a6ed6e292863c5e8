check_remains('hook', 'grad', 'describer')
check_remains('cycle', 'graph', 'cpp')
check_expired('tensor', 'name')
check_expired('storage', 'owner')
