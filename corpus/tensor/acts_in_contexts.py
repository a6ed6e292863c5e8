check_within('death_by_owner', 'counts')
check_within('unpack', 'world')
