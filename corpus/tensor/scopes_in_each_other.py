check_scopes('hermetic_mode', 'no_grad', 'packs')
check_scopes('fake_mode', 'enable_grad', 'hermetic_mode')
