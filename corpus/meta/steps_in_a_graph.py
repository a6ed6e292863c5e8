check_graph(changed_by('zeros', 'plus', 'turned'), T.ones(2, 3))
check_renamed('turned', 'data_of_other', 'later')
t0 = T.ones(1)
check_required(t0)
