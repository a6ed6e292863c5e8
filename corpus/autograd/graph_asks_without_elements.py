t0 = T.ones(0)
enter_hermetic()
check_graph_asks(t0)
