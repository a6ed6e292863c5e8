check_deep('slot', 'slot', 'drop')
check_deep('lent_storage', 'attribute', 'cycle')
