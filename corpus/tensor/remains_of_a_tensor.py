check_remains('hook', 'grad', 'describer')
check_remains('cycle', 'graph', 'cpp')
