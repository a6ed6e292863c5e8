check_saved_history('argument')
check_saved_history('view')
check_saved_history('detached')
check_saved_history('product')
