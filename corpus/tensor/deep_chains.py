check_deep('slot', 'slot', 'drop')
check_deep('lent_storage', 'attribute', 'cycle')
check_deep_blocks('collected_before')
check_deep_blocks('cycle')
