check_recipe('save_both', 'dirty', 'add_result', 'ignore_missing')
check_recipe('save_for_forward', 'save_none', 'refuse', 'take_note')
