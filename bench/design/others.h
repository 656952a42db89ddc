/* others.h - what else the machine is doing, which spoils measurements. */
#ifndef BENCH_OTHERS_H
#define BENCH_OTHERS_H

/* Processor seconds that went to other programs since the machine's start, up
 * to a constant; 0 where the system does not tell. */
double others_seconds(void);

#endif
