"""One admission cycle: nominate the heads, order them, admit or preempt."""
