check_graph_calls()
check_function_calls()
check_memory()
