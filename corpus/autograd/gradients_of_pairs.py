check_pairs('rest', 'conjugated', 'transposed')
check_gradients_given()
check_integer_data()
check_recipe('save_both', 'give_argument', 'refuse', 'nothing')
