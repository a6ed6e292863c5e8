"""Steps that need an installed PyTorch or its C++ library."""
