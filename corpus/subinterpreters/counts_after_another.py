check_counts_there()
