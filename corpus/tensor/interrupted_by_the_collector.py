check_interrupted('tolist', 'grows', 2)
check_interrupted('ones', 'leaves_hermetic', 1)
check_interrupted('write', 'drops_graph', 3)
