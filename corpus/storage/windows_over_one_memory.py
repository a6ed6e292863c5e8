check_windows('borrow', 'rest', 'tie', 'export', 'drop')
check_windows('start', 'grow', 'copy', 'back', 'wrap_again')
check_windows('shrink', 'nothing', 'grow', 'borrow', 'copy')
