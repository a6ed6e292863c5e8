check_gradient_fits('view', 'hook', 'bool')
check_unpacked('relu', '5')
check_graph_kind('packed_version')
check_gradient_shared('view', 'function', 'resized')
