check_edited_text('tensors 0 base 0', 'nothing', 'nothing')
check_edited_text('roots 0 1', 'tensors 0 is_neg true', 'nothing')
check_edited_text('tensors 0 storage 1', 'tensors 2 version 1', 'nothing')
