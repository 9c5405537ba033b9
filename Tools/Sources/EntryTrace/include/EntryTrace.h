/// Forgets the functions that were entered so far, and notes those that are from now on.
void entry_trace_start(void);

/// Notes no more functions.
void entry_trace_stop(void);

/// Prints the address of each noted function in the file of the program, in the order in which they
/// were first entered.
void entry_trace_print(void);
