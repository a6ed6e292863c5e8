"""The driver of slotfuzz: many programs. The engine (C++) knows about one program."""
