check_hooks_there()
