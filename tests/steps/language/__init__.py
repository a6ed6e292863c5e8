"""Steps that hold the op table and the prelude to the engine."""
