/* streams.h - which stream of tarry_random serves what in a world.
 *
 * Streams 0 to 15 are the policies' coins. */
#ifndef TARRY_ENV_STREAMS_H
#define TARRY_ENV_STREAMS_H

enum {
    TARRY__ENV_STREAM_WORLD = 16, /* per round: u[0] the loss, u[1] the delay */
    TARRY__ENV_STREAM_ARMS = 17,  /* instances: coordinates of the arms */
    TARRY__ENV_STREAM_THETA = 18, /* instances: coordinates of theta */
    TARRY__ENV_STREAM_OWN = 20,   /* laws of delays from outside */
    TARRY__ENV_STREAM_ERROR = 21, /* instances: errors of means */
    TARRY__ENV_STREAM_BEST = 19,  /* instances: which arm is the best */
};

#endif
