check_reentered('nothing', 'hook', 'differentiates', 'clears')
check_reentered('thread', 'between', 'raises', 'nothing')
check_reentered('death', 'unpack', 'frees', 'drops_results')
