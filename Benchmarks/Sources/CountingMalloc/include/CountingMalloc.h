/// How often this process has called `malloc`.
long counting_malloc_calls(void);
