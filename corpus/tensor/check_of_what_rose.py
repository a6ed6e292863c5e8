check_resurrected()
