check_cleared('subclass', 'owner')
check_cleared('storage', 'collected')
