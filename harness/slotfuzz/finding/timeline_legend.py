"""Colours and words of the picture of an ownership timeline."""

from slotfuzz.finding import svg
from slotfuzz.finding.timeline import HERMETIC_WRAPPER, Owner, Slot

PAGE, BORDER, INK, FAINT, GRID = "#ffffff", "#d0d7de", svg.INK, "#59636e", "#eaeef2"
BROKEN, BROKEN_BAND = "#cf222e", "#ffebe9"
HERMETIC = "#e6dcf7"
# Blue, orange and green that colour-blind people can distinguish (Okabe and Ito), and ink colours.
FILL = {Owner.PYTHON: ("#0072b2", PAGE), Owner.CPP: ("#e69f00", INK),
        Owner.BOTH: ("#00795a", PAGE), Owner.NOBODY: ("#f6f8fa", FAINT)}
MEANING = {Owner.PYTHON: "Python alone owns it", Owner.CPP: "C++ alone owns it",
           Owner.BOTH: "both own it", Owner.NOBODY: "freed: nobody owns it"}
# Explanations of the picture's words; the last is for hermetic lines and wrappers.
WORDS = {"impl": "the object in C++, with its type",
         "wrapper": "the Python object that stands for an impl",
         "slot": "the field of an impl that holds the address of its wrapper",
         HERMETIC_WRAPPER: "each access on the thread makes a wrapper of its own, and no slot is"
                           " used"}
# Alternative texts of a bar; the first one that fits is drawn.
NAMES = {**{one: (one.value,) for one in Owner}, Owner.BOTH: ("Python and C++", Owner.BOTH.value)}
SLOT_MEANING = {Slot.HOLDS: "the impl's slot holds the wrapper's address",
                Slot.DANGLES: "the slot holds the address of a freed wrapper"}
