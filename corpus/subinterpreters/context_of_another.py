check_context_there()
