check_in_use('bytes', 'storage', 'seen_before')
check_in_use('gradient', 'view', 'first')
check_classes_counted()
