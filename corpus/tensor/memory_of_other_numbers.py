check_buffer('reversed', T.uint8, 0, -1)
check_buffer('shorts', T.float64, 8, 1)
check_write_over('copy', T.uint8, T.float32, 1, 0)
