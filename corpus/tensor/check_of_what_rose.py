check_risen()
