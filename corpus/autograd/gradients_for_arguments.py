check_returned('gradient', 'nothing', 'wide', 'nothing')
check_returned('nothing', 'number', 'nothing', 'gradient')
