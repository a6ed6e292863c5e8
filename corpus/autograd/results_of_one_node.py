check_results('hook 0', 'share 0 2', 'retain 2', 'double 1', 'start 2')
check_results('skip 1', 'hook 1', 'remove 1', 'start 0', 'nothing')
