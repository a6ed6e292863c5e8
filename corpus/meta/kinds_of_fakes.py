check_meta_kind('hostile_expressions')
check_meta_kind('hermetic_parameter')
