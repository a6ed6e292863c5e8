check_chain('hook_removed', 'double_in_place', 'hook_changing', 'nothing', 'nothing')
check_chain('view', 'retain', 'add_leaf_in_place', 'hook_once', 'run')
