check_owner_calls()
