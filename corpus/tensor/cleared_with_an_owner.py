check_cleared('tensor_slots', 'owner')
check_cleared('storage', 'collected')
