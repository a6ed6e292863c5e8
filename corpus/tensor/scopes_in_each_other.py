check_scopes('hermetic', 'no_grad', 'packs')
check_scopes('fake_mode', 'enable_grad', 'hermetic')
