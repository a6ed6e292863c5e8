check_index_refused(lambda: T.ones(7).sum(), slice(0, 7))
