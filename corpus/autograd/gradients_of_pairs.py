check_numbers('complex64', 'rest', 'multiply i', 'parts', 'nothing')
check_gradients_given()
check_integer_data()
check_recipe('save_both', 'give_argument', 'refuse', 'nothing')
