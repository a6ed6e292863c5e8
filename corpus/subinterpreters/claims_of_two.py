check_claims('tensor', 'wrap_within', 'wrap_there', 'wrap', 'end_there')
check_claims('wrap', 'note', 'drop', 'wrap_there', 'wrap')
check_there(calls_of_module)
check_claims('buffer', 'wrap_there', 'drop_owner', 'drop_there', 'visited')
