check_tensor_calls()
check_view_calls()
check_number_calls()
check_class_calls()
