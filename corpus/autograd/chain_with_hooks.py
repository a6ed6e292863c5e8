check_chain('hook_removed', 'double_in_place', 'hook_changing', 'nothing', 'nothing')
check_chain('view', 'retain', 'add_leaf_in_place', 'hook_once', 'run')
check_chain('hook_removing_next', 'before_removing_next', 'after_removing_next', 'nothing', 'run')
