check_storage_calls()
